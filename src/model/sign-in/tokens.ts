import type { JsonObject } from '../../protocol/json.ts';
import type { NewSignIn } from '../../store/credentials.ts';
import { IssuerError, type IssuerRequest, numberField, requestFromIssuer, textField } from './issuer-request.ts';

const SECOND_MS = 1000;

/** Requests tokens and returns them with the rest of the response. `refresh`: used if the response has no new one. */
export async function requestTokens(
  request: IssuerRequest,
  refresh?: string,
): Promise<{ readonly signIn: NewSignIn; readonly body: JsonObject }> {
  const body = await requestFromIssuer(request);
  return { signIn: tokensIn(body, { host: new URL(request.url).host, refresh }), body };
}

/** The tokens of a response. */
export function tokensIn(
  body: JsonObject,
  { host, refresh }: { readonly host: string; readonly refresh?: string | undefined },
): NewSignIn {
  const seconds = numberField(body, 'expires_in');
  if (seconds === undefined) throw new IssuerError(`${host} responded without expires_in`);
  const renewed = body['refresh_token'];
  return {
    access: textField(body, 'access_token', host),
    // An issuer that keeps the refresh token may omit it.
    refresh: renewed === undefined && refresh !== undefined ? refresh : textField(body, 'refresh_token', host),
    expires: Date.now() + seconds * SECOND_MS,
  };
}
