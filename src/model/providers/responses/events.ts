/** A stream event. Fields depend on its type; other fields and types are ignored. */
export interface ResponseEvent {
  readonly type?: string;
  /** The index of the item. */
  readonly output_index?: number;
  readonly item?: OutputItem;
  readonly delta?: string;
  readonly arguments?: string;
  readonly response?: ResponseState;
}

export interface ResponseError {
  readonly message?: string | undefined;
  /** Is more specific than `type`. */
  readonly code?: string | null | undefined;
  readonly type?: string;
}

/** An output item: `reasoning`, `message`, `function_call` or an unsupported type. */
export interface OutputItem {
  readonly type?: string;
  readonly id?: string;
  readonly summary?: readonly { readonly text?: string }[] | null;
  readonly encrypted_content?: string | null;
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[] | null;
  /** Whether a message precedes more work or concludes it. */
  readonly phase?: string | null;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

/** The state of the whole response. */
export interface ResponseState {
  readonly id?: string;
  readonly model?: string;
  readonly status?: string;
  readonly error?: ResponseError | null;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly usage?: ResponseUsage | null;
  readonly output?: readonly OutputItem[] | null;
}

export interface ResponseUsage {
  /** Includes cached tokens. */
  readonly input_tokens?: number;
  readonly input_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
  /** Includes thinking. */
  readonly output_tokens?: number;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number } | null;
}
