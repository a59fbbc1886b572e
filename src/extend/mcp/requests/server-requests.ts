import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
} from '@modelcontextprotocol/client';

export type ElicitParams = ElicitRequest['params'];
export type SampleParams = CreateMessageRequest['params'];

/** Handles the requests that one server sends. */
export interface ServerRequests {
  readonly capabilities: ClientCapabilities;
  readonly roots: () => readonly { readonly uri: string; readonly name: string }[];
  readonly elicit: (params: ElicitParams, signal: AbortSignal) => Promise<ElicitResult>;
  readonly sample: (params: SampleParams, signal: AbortSignal) => Promise<CreateMessageResult>;
}

// The code of the protocol for a request that the user rejects.
const REJECTED = -1;

/** The error that a server receives for a request that is not carried out. */
export const rejection = (message: string): Error => Object.assign(new Error(message), { code: REJECTED });
