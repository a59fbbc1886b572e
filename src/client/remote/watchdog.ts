/**
 * A connection is dropped after this time without any data after a ping. A slow line may first have to finish a long
 * message.
 */
export const PING_TIMEOUT_MS = 30_000;

/** The same after `probeNow`. */
export const PROBE_TIMEOUT_MS = 3000;

// The limits of the ping interval that a server requests.
const MIN_PING_MS = 1000;
const MAX_PING_MS = 5 * 60_000;

/** Pings the server regularly, because a connection can die silently. */
export class Watchdog {
  readonly #ping: () => void;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #intervalMs = MAX_PING_MS;
  /** The timeout of the ping in flight. */
  #timeoutMs: number | undefined;

  constructor({ ping, onSilence }: { ping: () => void; onSilence: () => void }) {
    this.#ping = ping;
    this.#onSilence = onSilence;
  }

  start(pingMs: number): void {
    this.#intervalMs = Math.min(Math.max(pingMs, MIN_PING_MS), MAX_PING_MS);
    this.#scheduleNextPing();
  }

  /** Any data ends the wait for a ping. */
  onReceived(): void {
    if (this.#timeoutMs !== undefined) this.#scheduleNextPing();
  }

  /** Pings at once with a short timeout, unless the watchdog is stopped. */
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
