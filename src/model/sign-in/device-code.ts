import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../protocol/json.ts';
import { isHttpUrl } from '../../store/http-syntax.ts';
import type { LoginInteraction } from './flow.ts';
import {
  errorCode,
  IssuerError,
  type IssuerRequest,
  type IssuerResponse,
  issuerError,
  numberField,
  requestFromIssuer,
  requestIssuer,
  textField,
} from './issuer-request.ts';

// The times of RFC 8628, in seconds.
const USUAL_INTERVAL = 5;
const MIN_INTERVAL = 1;
const SLOW_DOWN = 5;
const USUAL_LIFETIME = 15 * 60;

/** A device code that waits for the user. */
export interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly interval: number | undefined;
  readonly lifetime: number | undefined;
}

/** Requests a device code and shows it. */
export async function startDeviceLogin(
  interaction: LoginInteraction,
  request: Omit<IssuerRequest, 'signal'>,
): Promise<DeviceCode> {
  const { signal } = interaction;
  const body = await requestFromIssuer({ ...request, signal });
  const { host } = new URL(request.url);
  const code: DeviceCode = {
    deviceCode: textField(body, 'device_code', host),
    userCode: textField(body, 'user_code', host),
    verificationUri: verificationUri(body, host),
    interval: numberField(body, 'interval'),
    lifetime: numberField(body, 'expires_in'),
  };
  interaction.notify({ type: 'device_code', userCode: code.userCode, verificationUri: code.verificationUri });
  return code;
}

function verificationUri(body: JsonObject, host: string): string {
  const uri = body['verification_uri_complete'] ?? body['verification_uri'] ?? body['verification_url'];
  if (typeof uri === 'string' && isHttpUrl(uri)) return uri;
  throw new IssuerError(`${host} responded without an http address to open`);
}

/** The result of one poll. */
export type Poll = 'pending' | { readonly slowDown: number | undefined } | { readonly body: JsonObject };

interface Polling extends Pick<DeviceCode, 'interval' | 'lifetime'> {
  readonly poll: () => Promise<Poll>;
  readonly signal: AbortSignal;
  /** Replaces the delay between two polls. */
  readonly wait?: (seconds: number) => Promise<unknown>;
}

/** Polls until the user has confirmed the code. Throws an `IssuerError` when the code expires. */
export async function pollDevice({ poll, signal, interval, lifetime, ...options }: Polling): Promise<JsonObject> {
  const wait = options.wait ?? ((seconds: number) => delay(seconds * 1000, undefined, { signal }));
  let seconds = Math.max(interval ?? USUAL_INTERVAL, MIN_INTERVAL);
  let left = lifetime ?? USUAL_LIFETIME;
  while (left > 0) {
    await wait(seconds);
    left -= seconds;
    const result = await poll();
    if (result === 'pending') continue;
    if ('body' in result) return result.body;
    seconds = Math.max(result.slowDown ?? seconds + SLOW_DOWN, seconds);
  }
  throw new IssuerError('The code has expired before it was confirmed');
}

/** Polls the token address of RFC 8628. */
export const pollTokenAddress =
  (request: IssuerRequest): (() => Promise<Poll>) =>
  async () => {
    const response = await requestPoll(request);
    if (!response) return { slowDown: undefined };
    if (response.status < 300 && response.body['access_token'] !== undefined) return { body: response.body };
    return pendingPoll(request, response);
  };

/**
 * Sends a poll. Undefined if the connection fails or the server is overloaded: polling continues more slowly, until the
 * code expires. Throws the reason of an abort.
 */
export async function requestPoll(request: IssuerRequest): Promise<IssuerResponse | undefined> {
  try {
    const response = await requestIssuer(request);
    return response.status >= 500 || response.status === 429 ? undefined : response;
  } catch {
    request.signal.throwIfAborted();
    return undefined;
  }
}

function pendingPoll(request: IssuerRequest, response: IssuerResponse): Poll {
  switch (errorCode(response.body)) {
    case 'authorization_pending':
      return 'pending';
    case 'slow_down':
      return { slowDown: numberField(response.body, 'interval') };
    case 'access_denied':
    case 'authorization_denied':
      throw new IssuerError('The login was denied');
    case 'expired_token':
      throw new IssuerError('The code has expired before it was confirmed');
    default:
      throw issuerError(request, response);
  }
}

/** The fields of a poll. */
export const deviceGrant = (clientId: string, deviceCode: string) => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
  client_id: clientId,
  device_code: deviceCode,
});
