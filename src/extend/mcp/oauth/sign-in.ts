import { randomBytes } from 'node:crypto';
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { unlessAborted } from '../../../agent/unless-aborted.ts';
import { checkParameters, MAX_PASTES, parsePaste } from '../../../model/sign-in/authorization-code.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type { JsonObject } from '../../../protocol/json.ts';
import type { McpOAuthSettings } from '../../../store/mcp/mcp-file.ts';
import { changeMcpSignIn, type McpSignIn, readMcpSignIn } from '../../../store/mcp/mcp-sign-ins.ts';
import type { SignInChallenge } from '../mcp-errors.ts';
import type { WebEndpoint } from '../server-target.ts';
import { causeOf } from '../transport/bounded-response.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { RedirectReceiver } from './redirect-receiver.ts';

// How long a server may take to demand a sign-in.
const CHALLENGE_MS = 15_000;

/** A server that a user signs in to. */
export interface SignInTarget {
  readonly agentDir: string;
  readonly url: string;
  readonly settings: McpOAuthSettings;
}

/** Shown to the user for a sign-in. */
export interface SignInPrompt {
  readonly address: string;
  /** Why the text that the user pasted before is of no use. */
  readonly problem: string | undefined;
}

export interface SignInOptions extends SignInTarget {
  readonly challenge: SignInChallenge;
  /** Shows the address to the user; resolves with a pasted code or address, with undefined if the user cancels. */
  readonly present: (prompt: SignInPrompt, signal: AbortSignal) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Signs the user in by a browser and stores the tokens. The browser returns to a port of this machine; a code or address
 * that the user pastes counts too, whichever is first. Rejects if the user cancels or the sign-in fails.
 */
export async function signIn(options: SignInOptions): Promise<void> {
  const { agentDir, url, settings, challenge, present, signal } = options;
  const stored = readMcpSignIn(agentDir, url);
  const callback = await RedirectReceiver.listen({ port: portFor(settings, stored), url: settings.callbackUrl });
  const ended = new AbortController();
  try {
    const flow = new SignInFlow(settings, callback.redirectUrl, stored);
    const scope = settings.scope ?? scopeFor(challenge, stored);
    const request = {
      serverUrl: url,
      fetchFn: guardedFetch(url),
      forceReauthorization: true,
      ...(scope === undefined ? {} : { scope }),
      ...(challenge.resourceMetadataUrl === undefined
        ? {}
        : { resourceMetadataUrl: new URL(challenge.resourceMetadataUrl) }),
    };
    await auth(flow, request);
    const stop = AbortSignal.any([signal, ended.signal]);
    const pasted = pastedParameters(flow, present, stop);
    const parameters = await unlessAborted(Promise.race([callback.receive(flow.expectedState), pasted]), signal);
    const code = codeIn(parameters);
    const iss = parameters?.get('iss');
    await auth(flow, { ...request, authorizationCode: code, ...(iss ? { iss } : {}) });
    await changeMcpSignIn(agentDir, url, async () => flow.result);
  } finally {
    ended.abort();
    callback.close();
  }
}

/** The demand of a server for a sign-in, from its response to a first request without a token. */
export async function fetchChallenge({ url, headers }: Pick<WebEndpoint, 'url' | 'headers'>): Promise<SignInChallenge> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    redirect: 'manual',
    signal: AbortSignal.timeout(CHALLENGE_MS),
  }).catch((error: unknown) => {
    throw new Error(`the server cannot be reached: ${causeOf(error)}`);
  });
  await response.body?.cancel();
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
  };
}

/** Removes the stored sign-in of a server; false if there was none. */
export async function signOut(agentDir: string, url: string): Promise<boolean> {
  if (!readMcpSignIn(agentDir, url)) return false;
  await changeMcpSignIn(agentDir, url, async () => undefined);
  return true;
}

// A registered client is bound to its redirect, so its port is tried again.
function portFor({ callbackPort, callbackUrl }: McpOAuthSettings, stored: McpSignIn | undefined): number | undefined {
  if (callbackPort !== undefined || callbackUrl !== undefined) return callbackPort;
  return stored?.redirectUrl === undefined ? undefined : Number(new URL(stored.redirectUrl).port);
}

function scopeFor({ scope, needsMoreScope }: SignInChallenge, stored: McpSignIn | undefined): string | undefined {
  const granted = (stored?.tokens as { scope?: string } | undefined)?.scope;
  return needsMoreScope ? computeScopeUnion(granted, scope) : scope;
}

/** The parameters that the user pastes. Requests another paste after a wrong one, at most `MAX_PASTES` times. */
async function pastedParameters(
  { address, expectedState: state }: SignInFlow,
  present: SignInOptions['present'],
  signal: AbortSignal,
): Promise<URLSearchParams> {
  let problem: string | undefined;
  for (let pastes = 1; ; pastes++) {
    const text = await present({ address, problem }, signal);
    if (text === undefined) throw new Error('the sign-in was cancelled');
    try {
      const parameters = parsePaste(text);
      // A code that a page shows may come without the state.
      checkParameters(parameters, parameters.has('state') ? { state } : {});
      return parameters;
    } catch (error) {
      if (pastes >= MAX_PASTES) throw error;
      problem = messageOf(error);
    }
  }
}

function codeIn(parameters: URLSearchParams | undefined): string {
  if (!parameters) throw new Error('the sign-in was cancelled');
  const refused = parameters.get('error');
  if (refused !== null) throw new Error(`the sign-in was refused: ${refused.slice(0, 200)}`);
  const code = parameters.get('code');
  if (!code) throw new Error('the sign-in gave no code');
  return code;
}

/** A running sign-in. Everything stays in memory until it has succeeded. */
class SignInFlow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly expectedState = randomBytes(24).toString('base64url');
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  readonly #fixedClient: StoredOAuthClientInformation | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #resource: string | undefined;
  #verifier = '';
  #address = '';

  constructor(settings: McpOAuthSettings, redirectUrl: string, stored: McpSignIn | undefined) {
    const { clientId, clientSecret, clientName = 'tau', clientMetadataUrl } = settings;
    this.redirectUrl = redirectUrl;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    this.clientMetadata = {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
    if (clientId !== undefined)
      this.#fixedClient = {
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      };
    else if (stored?.redirectUrl === redirectUrl)
      this.#client = stored.client as unknown as StoredOAuthClientInformation | undefined;
  }

  get address(): string {
    return this.#address;
  }

  get result(): McpSignIn {
    const seconds = this.#tokens?.expires_in;
    return {
      redirectUrl: this.redirectUrl,
      ...(this.#client ? { client: this.#client as unknown as JsonObject } : {}),
      ...(this.#tokens ? { tokens: this.#tokens as unknown as JsonObject } : {}),
      ...(this.#discovery ? { discovery: this.#discovery as unknown as JsonObject } : {}),
      ...(this.#resource === undefined ? {} : { resource: this.#resource }),
      ...(seconds === undefined ? {} : { expiresAt: Date.now() + seconds * 1000 }),
    };
  }

  state(): string {
    return this.expectedState;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#fixedClient ?? this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(address: URL): void {
    this.#address = address.href;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  invalidateCredentials(scope: string): void {
    if (scope === 'all' || scope === 'client') this.#client = undefined;
  }
}
