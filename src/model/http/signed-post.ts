import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../endpoint.ts';
import { type HttpPost, post } from './post.ts';
import type { StallTimer } from './stall-timer.ts';

type Headers = Readonly<Record<string, string>>;

/** Authorises requests to a server whose credentials expire, or that requires a signature of each request. */
export interface RequestSigner {
  /** The headers that authorise this request. Rejects with `ModelFailure`. */
  readonly headersFor: (message: UnsignedRequest, signal: AbortSignal) => Promise<Headers>;
  /** Whether a rejected request may succeed with new headers. Is called once per request. */
  readonly isCorrectable: (response: Pick<IncomingMessage, 'statusCode' | 'headers'>) => boolean;
}

export type UnsignedRequest = Pick<HttpPost, 'url' | 'headers' | 'body'>;

interface SignedResponse {
  readonly response: IncomingMessage;
  /** The headers of the signer, which an error text of the server may quote. */
  readonly signed: Headers;
}

interface PostOptions {
  readonly endpoint: Endpoint;
  readonly signer?: RequestSigner | undefined;
  readonly stallTimer: StallTimer;
}

/** Posts a request with the headers of its signer. Is repeated once if the signer can correct a rejected one. */
export async function postSigned(
  message: UnsignedRequest,
  { endpoint, signer, stallTimer }: PostOptions,
): Promise<SignedResponse> {
  // A header of the user's files replaces the signer.
  const hasOwn = Object.keys(endpoint.headers).some((name) => name.toLowerCase() === 'authorization');
  const active = hasOwn ? undefined : signer;
  const attempt = async (): Promise<SignedResponse> => {
    const signed = active ? await stallTimer.pauseDuring(active.headersFor(message, stallTimer.signal)) : {};
    const { connectMs } = endpoint.timeouts;
    const headers = { ...message.headers, ...signed };
    return { signed, response: await post({ ...message, headers, connectMs, signal: stallTimer.signal }) };
  };
  const first = await attempt();
  const { statusCode = 0 } = first.response;
  if (statusCode < 300 || !active?.isCorrectable(first.response)) return first;
  first.response.resume();
  return attempt();
}
