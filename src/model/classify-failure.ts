import type { RunError } from '../protocol/generated/vocabulary.ts';
import { ModelFailure } from './request.ts';

/** The error that a provider reported. */
export interface FailureDetails {
  readonly message: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Makes a `ModelFailure` with the code that its status and message stand for. */
export function classifyFailure({ message, ...details }: FailureDetails): ModelFailure {
  return new ModelFailure(codeOf(message, details.status), message, details);
}

function codeOf(message: string, status: number | undefined): RunError {
  if (isOverflow(message)) return 'context_overflow';
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 402) return 'payment_required';
  if (status === 429) return 'rate_limited';
  if (status === 503 || status === 529) return 'overloaded';
  return codePatterns.find(([, pattern]) => pattern.test(message))?.[0] ?? 'model_error';
}

// Errors in mid-stream often have no status; these messages identify them.
const codePatterns: readonly (readonly [RunError, RegExp])[] = [
  ['rate_limited', /rate.?limit|too many requests|resource.?exhausted|throttl|please wait before trying again/i],
  ['overloaded', /overloaded|service.?unavailable|high demand|at capacity/i],
  [
    'auth_failed',
    /invalid.?api.?key|api.?key not valid|incorrect api key|authentication_error|permission_error|unauthenticated/i,
  ],
];

/** Messages about a conversation that is too long: providers share no error code for it. */
export const overflowPatterns: readonly RegExp[] = [
  /prompt (?:is )?too long/i,
  /input is too long for requested model/i,
  /exceeds the context window/i,
  /context.?window exceeds limit/i,
  /model_context_window_exceeded/i,
  /context[ _]length[ _]exceeded/i,
  /(?:greater|longer) than the (?:model.?s )?context length/i,
  /exceeded max context length/i,
  /context.?window.?exceeded/i,
  /exceeds? (?:the )?(?:model|model.?s|maximum) context/i,
  /tokens \+ .{0,30}max_new_tokens.{0,10} must be <=/i,
  /exceeds the available context size/i,
  /exceeds the limit of \d+/i,
  /input token count.*exceeds the maximum/i,
  /maximum prompt length is \d+/i,
  /maximum (?:allowed )?(?:context|input|sequence) length/i,
  /reduce the length of the messages/i,
  /exceeded model token limit/i,
  /too large for model with \d+ maximum context length/i,
  /too many tokens/i,
  /token limit exceeded/i,
  /input length (?:and|plus) .{0,40}exceed/i,
  /range of input length should be/i,
  /(?:prompt|generate).{0,80}exceeds the max limit of \d+ tokens/i,
  /requested_too_many_tokens/i,
  /input tokens exceeds? maximum length|input tokens exceeded/i,
  /too many input tokens/i,
  /malformed input request.{0,40}expected maxLength/i,
  /input length \d+ exceeds (?:the )?maximum/i,
  /prompt exceeds max length/i,
  /prompt .{0,40}tokens.{0,40}context size/i,
  /request_too_large/i,
  /prompt.{0,40}(?:exceeds|longer than).{0,40}context/i,
  /^413 (?:payload too large|request entity too large|error|\(no body\))?$/i,
];

// Rate limits also mention tokens and limits.
const rateLimitPattern =
  /rate.?limit|too many requests|throttling|tokens per (?:minute|day)|per.minute|please wait before trying again/i;

/** Whether the message reports that the conversation exceeds the context window. */
export const isOverflow = (message: string): boolean =>
  !rateLimitPattern.test(message) && overflowPatterns.some((pattern) => pattern.test(message));

// Errors that no retry resolves.
const permanentPattern =
  /insufficient.?(?:quota|balance|credit|fund)|quota.?exceeded|exceeded your (?:current )?quota|billing|payment required|out of budget|credit balance|available balance|usage limit|spend(?:ing)? limit/i;

const transientCodes: ReadonlySet<RunError> = new Set([
  'rate_limited',
  'overloaded',
  'stalled',
  'connection_lost',
  'empty_answer',
]);

// Statuses of a server in trouble, not of a wrong request.
const isTransientStatus = (status: number) => status === 408 || status === 409 || status === 425 || status >= 500;

const transientPattern =
  /\b(?:429|500|502|503|504|520|522|524|529)\b|server.?error|internal.?error|provider returned error|network error|connection (?:error|lost|refused|reset)|other side closed|upstream connect|reset before headers|terminated|time(?:d )?.?out|socket hang up|ended (?:without|before)|fetch failed|retry your request|retry delay/i;

type FailureFacts = Pick<ModelFailure, 'code' | 'status' | 'message'> & Partial<Pick<ModelFailure, 'retryAfterMs'>>;

const PERMANENT_CODES: ReadonlySet<RunError> = new Set([
  'context_overflow',
  'context_full',
  'auth_failed',
  'payment_required',
]);

/** Whether the same request may succeed later. */
export function isTransient({ code, status, message, retryAfterMs }: FailureFacts): boolean {
  if (PERMANENT_CODES.has(code)) return false;
  // A server that names a retry time has no permanent problem.
  if (retryAfterMs === undefined && permanentPattern.test(message)) return false;
  if (transientCodes.has(code)) return true;
  return status === undefined ? transientPattern.test(message) : isTransientStatus(status);
}
