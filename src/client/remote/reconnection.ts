import { closeCodes } from '../../protocol/errors.ts';

/** When a lost connection is retried, and when it is given up. */
export interface ReconnectionConfig {
  /** Consecutive failures before giving up. */
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

/** The longest delay that a server can request. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The part of a delay that randomness may remove, so that clients of one server do not reconnect all at once. */
const JITTER = 0.25;

/** A retry after these codes would end the same way: regular closes, and errors of the token or the address. */
const FINAL_CODES: ReadonlySet<number | undefined> = new Set([
  closeCodes.normal,
  closeCodes.invalidToken,
  closeCodes.badParameters,
  closeCodes.denied,
  closeCodes.sessionNotFound,
]);

export const isFinalCode = (code: number | undefined): boolean => FINAL_CODES.has(code);

/** After these codes the same address is tried again: the client caused the close, and any other node would close as well. */
const SAME_ADDRESS_CODES: ReadonlySet<number | undefined> = new Set([
  closeCodes.tooBig,
  closeCodes.tooSlow,
  closeCodes.tooManyCommands,
]);

export const keepsAddress = (code: number | undefined): boolean => SAME_ADDRESS_CODES.has(code);

/** Milliseconds before a retry, counted from 0. Randomness only shortens it. */
export function retryDelay(attempt: number, config: ReconnectionConfig, random: () => number = Math.random): number {
  const { initialDelayMs, backoffMultiplier, maxDelayMs } = config;
  const fullDelay = Math.min(initialDelayMs * backoffMultiplier ** attempt, maxDelayMs, LONGEST_TIMER_MS);
  return Math.round(fullDelay * (1 - JITTER * random()));
}

/** The delay before another address is tried after a lost connection: only so much that not all clients come at once. */
export const switchDelay = ({ initialDelayMs }: ReconnectionConfig, random: () => number = Math.random): number =>
  Math.round(initialDelayMs * JITTER * random());

/** How a connection ended, as far as known. */
export interface ConnectionEnd {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  /** When the server expects to be back. */
  readonly retryAfterMs?: number | undefined;
}

/** The delay after this end: the server's request counts, within limits; a slow client reconnects at once. */
export function delayAfter({ code, retryAfterMs = 0 }: ConnectionEnd, delayMs: number): number {
  return code === closeCodes.tooSlow ? 0 : Math.max(delayMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}
