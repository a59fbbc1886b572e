/** A stream event. Any field may be missing or have another type. */
export interface CompletionsChunk {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices?: readonly (ChunkChoice | null)[] | null;
  readonly usage?: unknown;
  /** Groq reports usage here. */
  readonly x_groq?: { readonly usage?: unknown } | null;
}

interface ChunkChoice {
  readonly delta?: ChunkDelta | null;
  /** Replaces the delta where a server sends the whole message at once. */
  readonly message?: ChunkDelta | null;
  readonly finish_reason?: unknown;
  readonly usage?: unknown;
}

export type ChunkDelta = Readonly<Record<string, unknown>>;
