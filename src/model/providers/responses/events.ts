/** An event of a stream. Each kind has some of these fields; other fields and kinds are not looked at. */
export interface ResponseEvent {
  readonly type?: string;
  /** The place of the item that it is about. */
  readonly output_index?: number;
  readonly item?: OutputItem;
  readonly delta?: string;
  readonly arguments?: string;
  readonly response?: ResponseState;
  /** What went wrong; some servers put it one level deeper. */
  readonly code?: string | null;
  readonly message?: string;
  readonly error?: ResponseError | null;
}

export interface ResponseError {
  readonly message?: string | undefined;
  /** Says more than the type, where there is one. */
  readonly code?: string | null | undefined;
  readonly type?: string;
}

/** A piece of an answer: `reasoning`, `message`, `function_call`, or something that was not asked for. */
export interface OutputItem {
  readonly type?: string;
  readonly id?: string;
  readonly summary?: readonly { readonly text?: string }[] | null;
  readonly encrypted_content?: string | null;
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[] | null;
  /** Whether a message leads to more work or concludes it, where the model tells. */
  readonly phase?: string | null;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

/** The answer as a whole. */
export interface ResponseState {
  readonly id?: string;
  readonly model?: string;
  readonly status?: string;
  readonly error?: ResponseError | null;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly usage?: ResponseUsage | null;
}

export interface ResponseUsage {
  /** With what came from the cache. */
  readonly input_tokens?: number;
  readonly input_tokens_details?: { readonly cached_tokens?: number } | null;
  /** With what was thought. */
  readonly output_tokens?: number;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number } | null;
}
