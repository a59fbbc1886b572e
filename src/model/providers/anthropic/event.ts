import { ModelFailure } from '../../request.ts';

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

const EXCERPT_LENGTH = 200;

export function parseEvent(data: string): StreamEvent {
  const value = parseJson(data);
  if (typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string') {
    return value as StreamEvent;
  }
  const quoted = data.length > EXCERPT_LENGTH ? `${data.slice(0, EXCERPT_LENGTH)}…` : data;
  throw new ModelFailure('model_error', `Expected an event of the Messages API, got ${quoted}`);
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
