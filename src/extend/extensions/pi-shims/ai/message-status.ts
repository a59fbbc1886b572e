import { classifyFailure, isOverflow, isTransient, overflowPatterns } from '../../../../model/classify-failure.ts';
import type { AssistantMessage } from '../../../../protocol/generated/vocabulary.ts';

/** The longest delay between two attempts that an agent chooses itself. */
export const DEFAULT_MAX_AGENT_RETRY_DELAY_MS = 60_000;

// Servers that cut the conversation leave this part of the window, or less, for a response.
const FULL_WINDOW = 0.99;

/** True if the conversation exceeded the context window, whether or not the provider reported an error. */
export function isContextOverflow({ stopReason, errorMessage, usage }: AssistantMessage, contextWindow = 0): boolean {
  if (stopReason === 'error') return isOverflow(errorMessage ?? '');
  if (contextWindow <= 0) return false;
  const input = usage.input + usage.cacheRead;
  if (stopReason === 'length' && usage.output === 0) return input >= contextWindow * FULL_WINDOW;
  return input > contextWindow;
}

/** Whether a response ended before the length that was requested, so that a shorter conversation may complete it. */
export const isRecoverableLength = ({ stopReason, usage }: AssistantMessage, desiredMaxOutput: number): boolean =>
  stopReason === 'length' && desiredMaxOutput > 0 && usage.output < desiredMaxOutput;

export const getOverflowPatterns = (): RegExp[] => [...overflowPatterns];

/** Whether the same call may succeed later. */
export const isRetryableAssistantError = ({ stopReason, errorMessage = '' }: AssistantMessage): boolean =>
  stopReason === 'error' && isTransient(classifyFailure({ message: errorMessage }));

interface RetryPolicy {
  readonly enabled: boolean;
  readonly maxRetries: number;
  readonly baseDelayMs: number;
  readonly maxAgentDelayMs?: number;
}

interface RetryCallbacks {
  onRetryScheduled?(attempt: number, maxAttempts: number, delayMs: number, errorMessage: string): unknown;
  onRetryAttemptStart?(): unknown;
  onRetryFinished?(success: boolean, attempt: number, finalError?: string): unknown;
}

/** Doubles with each attempt, up to the limit of the policy. */
export const retryDelayMs = (
  {
    baseDelayMs,
    maxAgentDelayMs = DEFAULT_MAX_AGENT_RETRY_DELAY_MS,
  }: Pick<RetryPolicy, 'baseDelayMs' | 'maxAgentDelayMs'>,
  attempt: number,
): number => Math.min(baseDelayMs * 2 ** (attempt - 1), maxAgentDelayMs);

/** Repeats a model call while its failure may pass. Returns the last message; an abort ends the waiting. */
export async function retryAssistantCall(
  produce: () => Promise<AssistantMessage>,
  policy: RetryPolicy | undefined,
  ...[signal, callbacks = {}]: [signal?: AbortSignal | undefined, callbacks?: RetryCallbacks]
): Promise<AssistantMessage> {
  const maxAttempts = policy?.enabled ? policy.maxRetries : 0;
  let message = await produce();
  let attempt = 0;
  while (policy && attempt < maxAttempts && !signal?.aborted && isRetryableAssistantError(message)) {
    attempt++;
    const delayMs = retryDelayMs(policy, attempt);
    await callbacks.onRetryScheduled?.(attempt, maxAttempts, delayMs, message.errorMessage ?? '');
    if (!(await pause(delayMs, signal))) break;
    await callbacks.onRetryAttemptStart?.();
    message = await produce();
  }
  if (attempt > 0) {
    const failed = message.stopReason === 'error' || message.stopReason === 'aborted';
    await callbacks.onRetryFinished?.(!failed, attempt, failed ? message.errorMessage : undefined);
  }
  return message;
}

/** Resolves to false if the signal aborts first. */
function pause(delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isOver: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(isOver);
    };
    const abort = () => end(false);
    const timer = setTimeout(() => end(true), delayMs);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
  });
}

interface DiagnosticError {
  name?: string | undefined;
  message: string;
  stack?: string | undefined;
  code?: string | number | undefined;
}

export interface MessageDiagnostic {
  readonly type: string;
  readonly timestamp: number;
  readonly error: DiagnosticError;
  readonly details?: object | undefined;
}

export const formatThrownValue = (value: unknown): string =>
  value instanceof Error ? value.message || value.name : String(value);

/** The fields of any thrown value. */
export function extractDiagnosticError(error: unknown): DiagnosticError {
  const message = formatThrownValue(error);
  if (!(error instanceof Error)) return { name: 'ThrownValue', message };
  const { name, stack, code } = error as NodeJS.ErrnoException;
  return { name, message, stack, code };
}

export const createAssistantMessageDiagnostic = (
  type: string,
  error: unknown,
  details?: object,
): MessageDiagnostic => ({
  type,
  timestamp: Date.now(),
  error: extractDiagnosticError(error),
  details,
});

export function appendAssistantMessageDiagnostic(
  message: { diagnostics?: MessageDiagnostic[] },
  diagnostic: MessageDiagnostic,
): void {
  message.diagnostics = [...(message.diagnostics ?? []), diagnostic];
}
