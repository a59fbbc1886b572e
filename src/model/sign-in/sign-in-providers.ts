import type { OAuthCredential } from '../../store/credentials.ts';

/** A provider that tau can sign in to. */
export interface SignInProvider {
  readonly name: string;
  /** Whether requests count against a plan, so that costs are only estimates. */
  readonly isSubscription: boolean;
  /** `false`: its key works until it is revoked, whatever is stored. */
  readonly expires?: false;
  /** tau has no application of its own there: the user's settings must name one. */
  readonly requiresClientId?: true;
  /** `false`: the provider has no API keys besides the sign-in. */
  readonly acceptsKeys?: false;
  /** The key of a stored sign-in, if it is not its access token. */
  readonly key?: (credential: OAuthCredential) => string;
  /** Headers of every request besides the key. */
  readonly headers?: (credential: OAuthCredential) => Readonly<Record<string, string>>;
  /** The address of the account, if it is not that of the models. */
  readonly baseUrl?: (credential: OAuthCredential) => string | undefined;
}

/** Every provider that tau can sign in to, in the order in which they are offered. */
export const signInProviders = {
  openai: { name: 'OpenAI (ChatGPT plan)', isSubscription: true },
  openrouter: { name: 'OpenRouter', isSubscription: false },
  xai: { name: 'xAI (Grok plan)', isSubscription: true },
  'kimi-coding': { name: 'Kimi Code (plan)', isSubscription: true },
  'github-copilot': {
    name: 'GitHub Copilot',
    isSubscription: true,
    requiresClientId: true,
    // pi stores the token of GitHub as `refresh`, beside a short-lived one for editors.
    expires: false,
    key: ({ refresh, access }) => refresh || access,
    baseUrl: (credential) => {
      const domain = textIn(credential, 'enterpriseUrl');
      return domain === undefined ? undefined : `https://copilot-api.${domain}`;
    },
  },
  meta: { name: 'Meta (Muse plan)', isSubscription: true },
  'openai-codex': {
    name: 'OpenAI Codex (ChatGPT plan, older)',
    isSubscription: true,
    acceptsKeys: false,
    headers: (credential) => ({ 'chatgpt-account-id': textIn(credential, 'accountId') ?? '' }),
  },
} as const satisfies Readonly<Record<string, SignInProvider>>;

export type SignInProviderId = keyof typeof signInProviders;

export const signInProvider = (id: string): SignInProvider | undefined =>
  isSignInProvider(id) ? signInProviders[id] : undefined;

export const isSignInProvider = (id: string): id is SignInProviderId => Object.hasOwn(signInProviders, id);

const forbiddenSignIns: Readonly<Record<string, string>> = {
  anthropic:
    'Anthropic allows the sign-in of a Claude plan in its own programs only, and tau does not pose as one of them. ' +
    'Use an API key (ANTHROPIC_API_KEY, or tau login anthropic), ANTHROPIC_AUTH_TOKEN for a gateway, Bedrock or Vertex.',
};

/** Why a stored sign-in is not used, for a provider whose terms forbid it. */
export const forbiddenSignIn = (provider: string): string | undefined =>
  Object.hasOwn(forbiddenSignIns, provider) ? forbiddenSignIns[provider] : undefined;

function textIn(credential: OAuthCredential, name: string): string | undefined {
  const value: unknown = (credential as unknown as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
