import { isTransient } from '../../model/classify-failure.ts';
import type { ModelFailure } from '../../model/request.ts';
import type { Settings } from '../../store/settings.ts';

const RETRY_LIMIT = 3;
const BASE_DELAY_MS = 2000;
const MAX_DELAY_MS = 60_000;

// Keeps agents that failed together from retrying together.
const JITTER = 0.1;

/** A retry of a failed model call. */
export interface Retry {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly errorMessage: string;
}

/** Counts the retries of a model call until one succeeds. */
export class Retries {
  readonly #settings: NonNullable<Settings['retry']>;
  #attempt = 0;

  constructor(settings: Settings['retry'] = {}) {
    this.#settings = settings;
  }

  /** Retries so far. */
  get attempt(): number {
    return this.#attempt;
  }

  /** The next retry; undefined if the failure is permanent or the limit is reached. */
  next(failure: ModelFailure): Retry | undefined {
    const { maxRetries = RETRY_LIMIT, baseDelayMs = BASE_DELAY_MS, maxDelayMs = MAX_DELAY_MS } = this.#settings;
    const { retryAfterMs = 0, message } = failure;
    if (!isTransient(failure) || this.#attempt >= maxRetries || retryAfterMs > this.#maxServerDelayMs) return undefined;
    this.#attempt++;
    const backoff = baseDelayMs * 2 ** (this.#attempt - 1) * (1 + (Math.random() * 2 - 1) * JITTER);
    const chosen = Math.min(backoff, this.#settings.maxAgentDelayMs ?? maxDelayMs);
    const delayMs = Math.round(Math.max(chosen, retryAfterMs));
    return { attempt: this.#attempt, maxAttempts: maxRetries, delayMs, errorMessage: message };
  }

  /** Why a transient failure is not retried: the server requests a longer delay than the settings allow. */
  delayProblem({ retryAfterMs = 0 }: ModelFailure): string | undefined {
    const longest = this.#maxServerDelayMs;
    if (retryAfterMs <= longest) return undefined;
    return `the server requires a retry delay of ${Math.ceil(retryAfterMs / 1000)} s, more than ${longest / 1000} s`;
  }

  get #maxServerDelayMs(): number {
    const { provider, maxDelayMs = MAX_DELAY_MS } = this.#settings;
    return provider?.maxRetryDelayMs ?? maxDelayMs;
  }

  /** Resets the count after a successful model call. */
  reset(): void {
    this.#attempt = 0;
  }
}
