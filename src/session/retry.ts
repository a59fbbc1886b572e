import { isTransient } from '../model/failure.ts';
import type { ModelFailure } from '../model/request.ts';
import type { Settings } from '../store/settings.ts';

const RETRY_LIMIT = 3;
const BASE_DELAY_MS = 2000;
const MAX_DELAY_MS = 60_000;

/** So that agents that failed together do not come back together. */
const JITTER = 0.1;

/** Another try of a model call that failed. */
export interface Retry {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly errorMessage: string;
}

/** Counts the tries of a model call, until one succeeds. */
export class Retries {
  readonly #settings: NonNullable<Settings['retry']>;
  #attempt = 0;

  constructor(settings: Settings['retry'] = {}) {
    this.#settings = settings;
  }

  /** How many tries there were after the first. */
  get attempt(): number {
    return this.#attempt;
  }

  /** The next try; undefined where there is no point in one, or not any more. */
  next(failure: ModelFailure): Retry | undefined {
    const { maxRetries = RETRY_LIMIT, baseDelayMs = BASE_DELAY_MS, maxDelayMs = MAX_DELAY_MS } = this.#settings;
    const { retryAfterMs = 0, message } = failure;
    if (!isTransient(failure) || this.#attempt >= maxRetries || retryAfterMs > maxDelayMs) return undefined;
    this.#attempt++;
    const backoff = baseDelayMs * 2 ** (this.#attempt - 1) * (1 + (Math.random() * 2 - 1) * JITTER);
    const delayMs = Math.round(Math.min(Math.max(backoff, retryAfterMs), maxDelayMs));
    return { attempt: this.#attempt, maxAttempts: maxRetries, delayMs, errorMessage: message };
  }

  /** Why a failure that could be retried is not, where the server asks for more patience than there is. */
  delayProblem({ retryAfterMs = 0 }: ModelFailure): string | undefined {
    const { maxDelayMs = MAX_DELAY_MS } = this.#settings;
    if (retryAfterMs <= maxDelayMs) return undefined;
    return `the server asks for a retry delay of ${Math.ceil(retryAfterMs / 1000)} s, more than ${maxDelayMs / 1000} s`;
  }

  /** A model has answered: what fails next fails for the first time. */
  reset(): void {
    this.#attempt = 0;
  }
}
