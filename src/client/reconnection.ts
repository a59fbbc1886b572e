import { closeCodes } from '../protocol/close-codes.ts';

/** How often, and how soon, a lost connection is tried again. */
export interface ReconnectionConfig {
  /** Failures in a row before it is given up. */
  readonly maxRetries: number;
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  readonly backoffMultiplier: number;
}

export const defaultReconnection: ReconnectionConfig = {
  maxRetries: 5,
  initialDelayMs: 1000,
  maxDelayMs: 30_000,
  backoffMultiplier: 2,
};

/** How long a server can make a client stay away. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** What a timer can wait for; beyond that it does not wait at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The part of a delay that chance may take away, so that clients of one server do not come back all at once. */
const JITTER = 0.25;

/** After these, coming back would end in the same way: a goodbye, and what is wrong with the token or the address. */
const FINAL_CODES: ReadonlySet<number | undefined> = new Set([
  closeCodes.normal,
  closeCodes.invalidToken,
  closeCodes.badParameters,
  closeCodes.denied,
  closeCodes.sessionNotFound,
]);

/** Whether a connection that was closed with this code is not to be tried again. */
export const isFinalCode = (code: number | undefined): boolean => FINAL_CODES.has(code);

/** Milliseconds before a retry; the first one is attempt 0. Chance only makes it shorter. */
export function retryDelay(attempt: number, config: ReconnectionConfig, random: () => number = Math.random): number {
  const { initialDelayMs, backoffMultiplier, maxDelayMs } = config;
  const fullDelay = Math.min(initialDelayMs * backoffMultiplier ** attempt, maxDelayMs, LONGEST_TIMER_MS);
  return Math.round(fullDelay * (1 - JITTER * random()));
}

/** How a connection ended, as far as that is known. */
export interface ConnectionEnd {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  /** When the server expects to be there again. */
  readonly retryAfterMs?: number | undefined;
}

/** The delay after this ending: what the server asks for counts, within limits. Who was only too slow may go on at once. */
export function delayAfter({ code, retryAfterMs = 0 }: ConnectionEnd, delayMs: number): number {
  return code === closeCodes.tooSlow ? 0 : Math.max(delayMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}
