/** A piece of an answer as it streams. Other fields are not looked at. */
export interface GoogleChunk {
  readonly responseId?: string;
  readonly modelVersion?: string;
  readonly candidates?: readonly Candidate[];
  readonly usageMetadata?: ChunkUsage;
  /** Why the question was not let through. */
  readonly promptFeedback?: { readonly blockReason?: string; readonly blockReasonMessage?: string };
  /** What stands in place of all the others when something goes wrong in the middle. */
  readonly error?: { readonly code?: number };
}

export interface Candidate {
  readonly content?: { readonly parts?: readonly GooglePart[] };
  readonly finishReason?: string;
  readonly finishMessage?: string;
}

export interface GooglePart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: FunctionCall;
}

export interface FunctionCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: object;
}

/** Counts up to here. */
export interface ChunkUsage {
  /** With what came from the cache. */
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  /** Without what was thought. */
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
}
