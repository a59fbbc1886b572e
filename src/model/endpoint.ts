import type { Provider } from './request.ts';

/** Where a model is reached, and what goes along with every request. */
export interface Endpoint {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** What the user's files ask for. They win over what a wire sends by itself. */
  readonly headers: Readonly<Record<string, string>>;
  /** What a package of the AI SDK is made with. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly timeouts: StreamTimeouts;
}

/** How long a provider may keep silent, in milliseconds. */
export interface StreamTimeouts {
  readonly connectMs: number;
  /** From the request to the first byte of the answer. */
  readonly firstByteMs: number;
  /** From one piece of the answer to the next. */
  readonly betweenMs: number;
}

/** Speaks one API kind. */
export type ApiAdapter = (endpoint: Endpoint) => Provider;
