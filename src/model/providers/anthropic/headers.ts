import type { AnthropicBody } from './body.ts';

// OAuth tokens begin with this.
const OAUTH_KEY_PREFIX = 'sk-ant-oat';

/** The headers of a request, by the kind of key and the use of thinking. */
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
