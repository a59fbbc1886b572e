/**
 * How long an answer to `ping` may take, or anything else that shows that somebody is there. It may come behind something
 * long over a slow line, of which nothing is heard before its end.
 */
export const PING_LIMIT_MS = 30_000;

/** The same where there is reason to believe that nobody is there. */
export const DOUBT_LIMIT_MS = 3000;

/** How often a server can make a client ask, at most and at least. */
const MIN_PING_MS = 1000;
const MAX_PING_MS = 5 * 60_000;

/** Asks again and again whether the other side is there: a connection can be gone without a word. */
export class Watchdog {
  readonly #ping: () => void;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #intervalMs = MAX_PING_MS;
  /** How long an answer may take that is waited for. */
  #limitMs: number | undefined;

  constructor({ ping, onSilence }: { ping: () => void; onSilence: () => void }) {
    this.#ping = ping;
    this.#onSilence = onSilence;
  }

  start(pingMs: number): void {
    this.#intervalMs = Math.min(Math.max(pingMs, MIN_PING_MS), MAX_PING_MS);
    this.#rest();
  }

  /** Something came. */
  heard(): void {
    if (this.#limitMs !== undefined) this.#rest();
  }

  /** Asks at once, and not for long, unless this is not the time to ask. */
  doubt(): void {
    if (this.#timer !== undefined && this.#limitMs !== DOUBT_LIMIT_MS) this.#ask(DOUBT_LIMIT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#limitMs = undefined;
  }

  #rest(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#ask(PING_LIMIT_MS), this.#intervalMs);
  }

  #ask(limitMs: number): void {
    this.stop();
    this.#limitMs = limitMs;
    this.#timer = setTimeout(this.#onSilence, limitMs);
    this.#ping();
  }
}
