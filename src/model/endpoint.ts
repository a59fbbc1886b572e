import type { Settings } from '../store/settings.ts';
import type { CloudAccess } from './clouds/credential-cache.ts';
import type { Provider } from './request.ts';

/** The address of a model, and what every request to it carries. */
export interface Endpoint {
  /** Has no trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** From the user's files; they override the headers of an adapter. */
  readonly headers: Readonly<Record<string, string>>;
  /** Settings for a package of the AI SDK. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Is set for clouds and for packages of the AI SDK. */
  readonly cloud?: CloudAccess;
  readonly timeouts: StreamTimeouts;
}

/** How long a provider may send nothing, in milliseconds. */
export interface StreamTimeouts {
  readonly connectMs: number;
  /** From the request to the first byte of the response. */
  readonly firstByteMs: number;
  /** From one chunk of the response to the next. */
  readonly betweenMs: number;
}

/** Makes a provider that uses one API kind. */
export type ApiAdapter = (endpoint: Endpoint) => Provider;

const CONNECT_TIMEOUT_MS = 15_000;
const FIRST_BYTE_TIMEOUT_MS = 300_000;
const BETWEEN_CHUNKS_TIMEOUT_MS = 120_000;

/** The timeouts of the user's settings. pi has one timeout for the whole response; tau's `stall` is finer and wins. */
export function streamTimeouts({
  stall = {},
  retry,
  httpIdleTimeoutMs = retry?.provider?.timeoutMs,
}: Settings): StreamTimeouts {
  return {
    connectMs: stall.connectMs ?? CONNECT_TIMEOUT_MS,
    firstByteMs: stall.firstByteMs ?? httpIdleTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS,
    betweenMs: stall.betweenMs ?? httpIdleTimeoutMs ?? BETWEEN_CHUNKS_TIMEOUT_MS,
  };
}
