import type { FlowContext } from './flow.ts';

/** The public client ids and addresses of all issuers. */
export const issuers = {
  openai: {
    // Every login registers a client of its own, whose id the callback holds.
    clientId: 'dynamic_agent_client',
    authorize: 'https://auth.openai.com/api/accounts/authorize',
    token: 'https://auth.openai.com/api/accounts/oauth/token',
    resource: 'https://api.openai.com/v1',
    scope: 'openid profile email offline_access resource.invoke chatgpt.tokens.use.direct',
  },
  'openai-codex': {
    clientId: 'app_EMoamEEZ73f0CkXaXp7hrann',
    device: 'https://auth.openai.com/api/accounts/deviceauth/usercode',
    poll: 'https://auth.openai.com/api/accounts/deviceauth/token',
    page: 'https://auth.openai.com/codex/device',
    redirect: 'https://auth.openai.com/deviceauth/callback',
    token: 'https://auth.openai.com/oauth/token',
  },
  openrouter: {
    authorize: 'https://openrouter.ai/auth',
    token: 'https://openrouter.ai/api/v1/auth/keys',
  },
  xai: {
    clientId: 'b1a00492-073a-47ea-816f-4c329264a828',
    device: 'https://auth.x.ai/oauth2/device/code',
    token: 'https://auth.x.ai/oauth2/token',
    scope: 'openid profile email offline_access grok-cli:access api:access',
  },
  'kimi-coding': {
    clientId: '17e5f671-d194-4dfb-9706-5516cb48c098',
    device: 'https://auth.kimi.com/api/oauth/device_authorization',
    token: 'https://auth.kimi.com/api/oauth/token',
  },
  // tau has no application at GitHub: the id of one comes from models.json.
  'github-copilot': {
    device: 'https://github.com/login/device/code',
    token: 'https://github.com/login/oauth/access_token',
    models: 'https://api.githubcopilot.com/models',
    scope: 'read:user',
  },
  meta: {
    clientId: '1031625952748946',
    device: 'https://auth.meta.com/oidc/device/authorization/',
    token: 'https://auth.meta.com/oidc/device/token/',
    key: 'https://api.meta.ai/muse-code/key',
  },
} as const;

/** The address to request: the host of an issuer may be replaced in models.json. */
export function addressOf(url: string, { issuer }: Pick<FlowContext, 'issuer'>): string {
  if (issuer === undefined) return url;
  const { pathname, search } = new URL(url);
  return new URL(pathname + search, issuer).href;
}
