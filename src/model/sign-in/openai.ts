import type { JsonObject } from '../../protocol/json.ts';
import { deviceId } from '../../store/change-settings.ts';
import type { NewSignIn } from '../../store/credentials.ts';
import { authorizeInBrowser, newProofKey, randomToken } from './authorization-code.ts';
import type { SignInFlow } from './flow.ts';
import { IssuerError } from './issuer-request.ts';
import { addressOf, issuers } from './issuers.ts';
import { requestTokens } from './tokens.ts';

const { openai } = issuers;

// OpenAI compares the address literally.
const CALLBACK_PORT = 1455;
const CALLBACK_PATH = '/auth/callback';

const DIRECT_USE = 'chatgpt.tokens.use.direct';

/** "Sign in with ChatGPT": the tokens are used at the API of OpenAI and count against the plan. */
export const openaiFlow: SignInFlow = {
  login: async (interaction, context) => {
    const { verifier, challenge } = newProofKey();
    const state = randomToken();
    const host = await deviceId(context.agentDir);
    const authorize = (redirect: string) => {
      const url = new URL(addressOf(openai.authorize, context));
      url.search = new URLSearchParams({
        client_id: openai.clientId,
        agent_name_hint: 'tau',
        ext_agent_host_id: `urn:uuid:${host}`,
        response_type: 'code',
        redirect_uri: redirect,
        resource: openai.resource,
        scope: openai.scope,
        state,
        nonce: randomToken(),
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }).toString();
      return url.href;
    };
    const { parameters, redirect } = await authorizeInBrowser(
      interaction,
      {
        port: CALLBACK_PORT,
        path: CALLBACK_PATH,
        redirect: () => `http://127.0.0.1:${CALLBACK_PORT}${CALLBACK_PATH}`,
        authorize,
        state,
        required: ['client_id'],
      },
      context,
    );
    const clientId = parameters.get('client_id')?.trim() ?? '';
    const { signIn, body } = await requestTokens({
      url: addressOf(openai.token, context),
      fields: {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: parameters.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: redirect,
        resource: openai.resource,
      },
      signal: interaction.signal,
    });
    return withClient(signIn, body, clientId);
  },

  refresh: async ({ refresh = '', ...stored }, context) => {
    const { clientId } = stored as { readonly clientId?: unknown };
    if (typeof clientId !== 'string' || clientId === '')
      throw new IssuerError('The stored sign-in lacks the id of its client', { isPermanent: true });
    const { signIn, body } = await requestTokens(
      {
        url: addressOf(openai.token, context),
        fields: { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh, resource: openai.resource },
        signal: context.signal,
      },
      refresh,
    );
    return withClient(signIn, body, clientId);
  },
};

/** Adds the client and the granted scopes; rejects tokens that the API would not accept. */
function withClient(signIn: NewSignIn, { scope }: JsonObject, clientId: string): NewSignIn {
  if (typeof scope !== 'string') return { ...signIn, ...{ clientId } };
  const scopes = scope.split(/\s+/).filter(Boolean);
  if (!scopes.includes(DIRECT_USE))
    throw new IssuerError('The plan was not shared with tau: allow its use when you sign in');
  return { ...signIn, ...{ clientId, scopes } };
}
