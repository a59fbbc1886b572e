import { ModelFailure } from '../../request.ts';
import { excerptOf, parseEventData, type StreamEventData } from '../stream-decoder.ts';

/** A stream event. Its fields depend on its type, and on how well a server implements the API. */
export interface StreamEvent {
  readonly type: string;
  readonly message?: { readonly id?: string; readonly model?: string; readonly usage?: TokenReport };
  readonly content_block?: {
    readonly type: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly data?: string;
    readonly id?: string;
    readonly name?: string;
    readonly input?: object;
  };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly partial_json?: string;
    readonly stop_reason?: string | null;
    readonly stop_details?: { readonly explanation?: string | null } | null;
  };
  readonly usage?: TokenReport;
}

/** Token counts. Later reports replace earlier values. */
export interface TokenReport {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

/** Parses an event. Throws if it is an error or has no type. */
export function parseEvent(event: StreamEventData): StreamEvent {
  const value = parseEventData<StreamEvent>(event);
  if (typeof value.type === 'string') return value;
  throw new ModelFailure('model_error', `Expected an event of the Messages API, got ${excerptOf(event.data)}`);
}
