/** A chunk of a streamed response. Other fields are ignored. */
export interface GoogleChunk {
  readonly responseId?: string;
  readonly modelVersion?: string;
  readonly candidates?: readonly Candidate[];
  readonly usageMetadata?: ChunkUsage;
  /** Why the prompt was blocked. */
  readonly promptFeedback?: { readonly blockReason?: string; readonly blockReasonMessage?: string };
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

/** Totals so far. */
export interface ChunkUsage {
  /** Includes cached tokens. */
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  /** Results of tools that the server itself ran; not part of the prompt. */
  readonly toolUsePromptTokenCount?: number;
  /** Excludes thinking. */
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
}
