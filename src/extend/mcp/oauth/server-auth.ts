import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  type OAuthDiscoveryState,
  refreshAuthorization,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../protocol/json.ts';
import { changeMcpSignIn, type McpSignIn, readMcpSignIn } from '../../../store/mcp/mcp-sign-ins.ts';
import { SignInRequired } from '../mcp-errors.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { SignInTarget } from './sign-in.ts';

// A token that ends within this time is renewed before it is used.
const RENEWAL_MARGIN_MS = 60_000;

/** Supplies the stored token of a server and renews it. A first sign-in takes the user: see `signIn`. */
export class ServerAuth implements AuthProvider {
  readonly #target: SignInTarget;

  constructor(target: SignInTarget) {
    this.#target = target;
  }

  /** Values that must appear in no message. */
  get secrets(): readonly string[] {
    const { access_token, refresh_token } = (this.#stored?.tokens ?? {}) as Partial<StoredOAuthTokens>;
    return [access_token, refresh_token, this.#target.settings.clientSecret].filter((value) => value !== undefined);
  }

  async token(): Promise<string | undefined> {
    const { tokens, expiresAt } = this.#stored ?? {};
    const current = accessTokenIn(tokens);
    if (current === undefined || expiresAt === undefined || expiresAt > Date.now() + RENEWAL_MARGIN_MS) return current;
    await this.#renew(current).catch(() => {});
    return accessTokenIn(this.#stored?.tokens);
  }

  /** Renews the token; rejects with `SignInRequired` if that does not help. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const used = accessTokenIn(this.#stored?.tokens);
    if (used !== undefined && (await this.#renew(used).catch(() => false))) return;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    throw new SignInRequired({
      ...(scope === undefined ? {} : { scope }),
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
    });
  }

  get #stored(): McpSignIn | undefined {
    return readMcpSignIn(this.#target.agentDir, this.#target.url);
  }

  /** True if there is another token than this one afterwards. Processes take turns: one renews, the others use that. */
  async #renew(used: string): Promise<boolean> {
    let isRenewed = false;
    await changeMcpSignIn(this.#target.agentDir, this.#target.url, async (before) => {
      const current = accessTokenIn(before?.tokens);
      isRenewed = current !== undefined && current !== used;
      if (isRenewed || !before) return before;
      const renewed = await this.#refresh(before);
      isRenewed = renewed !== undefined;
      return renewed ?? before;
    });
    return isRenewed;
  }

  /** Sends the refresh token to the authorization server that issued it, and to no other. */
  async #refresh({ tokens, client, discovery, resource, ...rest }: McpSignIn): Promise<McpSignIn | undefined> {
    const { settings, url } = this.#target;
    const { refresh_token: refreshToken } = (tokens ?? {}) as Partial<StoredOAuthTokens>;
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = (discovery ??
      {}) as Partial<OAuthDiscoveryState>;
    const clientInformation = clientFrom(settings.clientId, settings.clientSecret) ?? client;
    if (!refreshToken || !authorizationServerUrl || !clientInformation) return undefined;
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      clientInformation: clientInformation as unknown as StoredOAuthClientInformation,
      refreshToken,
      fetchFn: guardedFetch(url),
      ...(metadata ? { metadata } : {}),
      ...(resource === undefined ? {} : { resource }),
    });
    const { expiresAt: _, ...kept } = rest;
    return {
      ...kept,
      tokens: { ...tokens, ...fresh } as JsonObject,
      ...(client ? { client } : {}),
      ...(discovery ? { discovery } : {}),
      ...(resource === undefined ? {} : { resource }),
      ...(fresh.expires_in === undefined ? {} : { expiresAt: Date.now() + fresh.expires_in * 1000 }),
    };
  }
}

const accessTokenIn = (tokens: unknown) => (tokens as Partial<StoredOAuthTokens> | undefined)?.access_token;

const clientFrom = (clientId: string | undefined, clientSecret: string | undefined) =>
  clientId === undefined
    ? undefined
    : { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
