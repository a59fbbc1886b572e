import { isObject } from '../../protocol/json.ts';
import type { NewSignIn } from '../../store/credentials.ts';
import { type Poll, pollDevice, requestPoll } from './device-code.ts';
import type { SignInFlow } from './flow.ts';
import {
  IssuerError,
  type IssuerRequest,
  issuerError,
  numberField,
  requestFromIssuer,
  textField,
} from './issuer-request.ts';
import { addressOf, issuers } from './issuers.ts';
import { requestTokens } from './tokens.ts';

const codex = issuers['openai-codex'];

// The claim of an access token that names the account.
const AUTH_CLAIM = 'https://api.openai.com/auth';

/** The sign-in of the Codex command line, with its own form of a device code. */
export const openaiCodexFlow: SignInFlow = {
  login: async (interaction, context) => {
    const { signal } = interaction;
    const start = addressOf(codex.device, context);
    const code = await requestFromIssuer({ url: start, json: { client_id: codex.clientId }, signal });
    const { host } = new URL(start);
    const userCode = textField(code, 'user_code', host);
    const request = {
      url: addressOf(codex.poll, context),
      json: { device_auth_id: textField(code, 'device_auth_id', host), user_code: userCode },
      signal,
    };
    interaction.notify({ type: 'device_code', userCode, verificationUri: addressOf(codex.page, context) });
    const poll = () => pollForCode(request);
    const granted = await pollDevice({ interval: numberField(code, 'interval'), lifetime: undefined, poll, signal });
    const { signIn } = await requestTokens({
      url: addressOf(codex.token, context),
      fields: {
        grant_type: 'authorization_code',
        client_id: codex.clientId,
        code: textField(granted, 'authorization_code', host),
        code_verifier: textField(granted, 'code_verifier', host),
        redirect_uri: codex.redirect,
      },
      signal,
    });
    return withAccount(signIn);
  },

  refresh: async ({ refresh = '' }, context) => {
    const fields = { grant_type: 'refresh_token', client_id: codex.clientId, refresh_token: refresh };
    const { signIn } = await requestTokens(
      { url: addressOf(codex.token, context), fields, signal: context.signal },
      refresh,
    );
    return withAccount(signIn);
  },
};

/** The address responds 403 or 404 until the user has confirmed the code. */
async function pollForCode(request: IssuerRequest): Promise<Poll> {
  const response = await requestPoll(request);
  if (!response) return { slowDown: undefined };
  const { status, body } = response;
  if (status === 403 || status === 404) return 'pending';
  if (status >= 300) throw issuerError(request, response);
  return { body };
}

/** Every request names the account of the token. */
function withAccount(signIn: NewSignIn): NewSignIn {
  const accountId = accountIn(signIn.access);
  if (accountId === undefined) throw new IssuerError('The sign-in names no ChatGPT account');
  return { ...signIn, ...{ accountId } };
}

function accountIn(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const auth = isObject(claims) ? claims[AUTH_CLAIM] : undefined;
    const account = isObject(auth) ? auth['chatgpt_account_id'] : undefined;
    return typeof account === 'string' && account !== '' ? account : undefined;
  } catch {
    return undefined;
  }
}
