/**
 * How long an answer to `ping` may take, or anything else that shows that somebody is there. It may come behind something
 * long over a slow line, of which nothing is heard before its end.
 */
export const PING_TIMEOUT_MS = 30_000;

/** The same where there is reason to believe that nobody is there. */
export const PROBE_TIMEOUT_MS = 3000;

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
  #timeoutMs: number | undefined;

  constructor({ ping, onSilence }: { ping: () => void; onSilence: () => void }) {
    this.#ping = ping;
    this.#onSilence = onSilence;
  }

  start(pingMs: number): void {
    this.#intervalMs = Math.min(Math.max(pingMs, MIN_PING_MS), MAX_PING_MS);
    this.#scheduleNextPing();
  }

  /** Something came. */
  onReceived(): void {
    if (this.#timeoutMs !== undefined) this.#scheduleNextPing();
  }

  /** Asks at once, and not for long, unless this is not the time to ask. */
  probeNow(): void {
    if (this.#timer !== undefined && this.#timeoutMs !== PROBE_TIMEOUT_MS) this.#pingWithin(PROBE_TIMEOUT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timeoutMs = undefined;
  }

  #scheduleNextPing(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#pingWithin(PING_TIMEOUT_MS), this.#intervalMs);
  }

  #pingWithin(timeoutMs: number): void {
    this.stop();
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(this.#onSilence, timeoutMs);
    this.#ping();
  }
}
