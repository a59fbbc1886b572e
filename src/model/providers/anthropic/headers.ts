import type { AnthropicBody } from './body.ts';

/** How the keys begin that stand for a person's account. */
const OAUTH_KEY_PREFIX = 'sk-ant-oat';

/** What the API wants to know of every request, besides the body. */
export function headersFor(apiKey: string | undefined, body: AnthropicBody): Record<string, string> {
  const isOAuth = apiKey?.startsWith(OAUTH_KEY_PREFIX) ?? false;
  const betas = [
    ...(isOAuth ? ['oauth-2025-04-20'] : []),
    ...(body.thinking?.type === 'enabled' && body.tools ? ['interleaved-thinking-2025-05-14'] : []),
  ];
  return {
    'anthropic-version': '2023-06-01',
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
    ...(apiKey === undefined ? {} : isOAuth ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey }),
  };
}
