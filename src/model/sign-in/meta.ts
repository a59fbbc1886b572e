import type { NewSignIn } from '../../store/credentials.ts';
import { deviceGrant, pollDevice, pollTokenAddress, startDeviceLogin } from './device-code.ts';
import type { FlowContext, SignInFlow } from './flow.ts';
import { IssuerError, issuerError, requestIssuer, textField } from './issuer-request.ts';
import { addressOf, issuers } from './issuers.ts';

const { meta } = issuers;

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Meta signs in with a device code; the resulting token creates keys for a day, and cannot be renewed itself. */
export const metaFlow: SignInFlow = {
  login: async (interaction, context) => {
    const { signal } = interaction;
    const code = await startDeviceLogin(interaction, {
      url: addressOf(meta.device, context),
      fields: { client_id: meta.clientId },
    });
    const url = addressOf(meta.token, context);
    const poll = pollTokenAddress({ url, fields: deviceGrant(meta.clientId, code.deviceCode), signal });
    const body = await pollDevice({ ...code, poll, signal });
    return newKey(textField(body, 'access_token', new URL(url).host), { ...context, signal });
  },

  refresh: ({ refresh = '' }, context) => newKey(refresh, context),
};

/** Creates a key. The identity token takes the place of a refresh token. */
async function newKey(identity: string, context: FlowContext & { readonly signal: AbortSignal }): Promise<NewSignIn> {
  const request = {
    url: addressOf(meta.key, context),
    json: {},
    headers: { authorization: `Bearer ${identity}`, 'x-api-version': '1.0.0' },
    signal: context.signal,
  };
  const response = await requestIssuer(request);
  const { status, body } = response;
  if (status === 401 || status === 403)
    throw new IssuerError(issuerError(request, response).message, { isPermanent: true });
  if (status >= 300) throw issuerError(request, response);
  return {
    access: textField(body, 'api_key', new URL(request.url).host),
    refresh: identity,
    expires: Date.now() + KEY_LIFETIME_MS,
  };
}
