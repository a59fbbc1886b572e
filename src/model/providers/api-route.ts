import type { EventStreamRequest } from '../http/event-stream.ts';

/** How the requests of an API reach a server. */
export interface ApiRoute extends Pick<EventStreamRequest, 'endpoint' | 'path' | 'headers' | 'signer'> {
  /** Changes the fields of the body that this server requires otherwise. */
  readonly adaptBody?: (body: object) => object;
}

/** The header of a server that takes the key as a bearer token. */
export const bearerHeader = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
