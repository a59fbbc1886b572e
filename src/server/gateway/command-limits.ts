import { Refusal } from '../../protocol/errors.ts';
import { type Grant, tokenIdOf } from '../auth/grant.ts';

/** Lines that a client may send at once, and per second after that. */
export const BURST_LINES = 1000;
export const LINES_PER_SECOND = 200;

/** Excess lines after which the client is disconnected. */
export const MAX_EXCESS_LINES = 1000;

/** A line counts once for each piece of this size. */
export const BYTES_PER_LINE = 64 * 1024;

/** A leaky-bucket limit on the lines of one client. Refused lines count too. */
export class CommandRate {
  readonly #now: () => number;
  #level = 0;
  #at: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  take(bytes = 0): 'ok' | 'refuse' | 'close' {
    const now = this.#now();
    const level = Math.max(0, this.#level - ((now - this.#at) / 1000) * LINES_PER_SECOND);
    this.#at = now;
    this.#level = level + 1 + Math.floor(bytes / BYTES_PER_LINE);
    if (level < BURST_LINES) return 'ok';
    return level < BURST_LINES + MAX_EXCESS_LINES ? 'refuse' : 'close';
  }
}

/** Commands of one token that may be in flight in all its clients, so that no token fills an agent alone. */
export const MAX_IN_FLIGHT_PER_TOKEN = 512;

/** Counts the commands in flight of each token, also those of closed clients. */
export class InFlightLimit {
  readonly #counts = new Map<string, number>();

  /** Adds one; returns whether that exceeds the limit. */
  add(grant: Grant): boolean {
    const count = this.#countOf(grant) + 1;
    this.#counts.set(tokenIdOf(grant), count);
    return count > MAX_IN_FLIGHT_PER_TOKEN;
  }

  remove(grant: Grant): void {
    const count = this.#countOf(grant) - 1;
    if (count > 0) this.#counts.set(tokenIdOf(grant), count);
    else this.#counts.delete(tokenIdOf(grant));
  }

  #countOf(grant: Grant): number {
    return this.#counts.get(tokenIdOf(grant)) ?? 0;
  }
}

/** Searches for sessions that a token may have without a result, at once and per second after that. */
export const BURST_LOOKUPS = 50;
const LOOKUPS_PER_SECOND = 5;

// A token that searched on and on waits until its count has fallen from here.
const MAX_LOOKUP_LEVEL = 4 * BURST_LOOKUPS;

interface Level {
  readonly value: number;
  readonly at: number;
}

/** Limits the searches of each token that find no session; a search that finds one is free. */
export class LookupLimit {
  readonly #now: () => number;
  readonly #levels = new Map<string, Level>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a search before it begins; returns whether the limit allows it. Refused ones count too, up to a bound. */
  take(grant: Grant): boolean {
    this.#forgetIdle();
    const value = this.#valueOf(grant);
    this.#set(grant, Math.min(value + 1, MAX_LOOKUP_LEVEL));
    return value < BURST_LOOKUPS;
  }

  /** The search found a session that the grant may open. */
  giveBack(grant: Grant): void {
    this.#set(grant, this.#valueOf(grant) - 1);
  }

  #valueOf(grant: Grant): number {
    const level = this.#levels.get(tokenIdOf(grant));
    return level ? this.#decayed(level) : 0;
  }

  #decayed({ value, at }: Level): number {
    return Math.max(0, value - ((this.#now() - at) / 1000) * LOOKUPS_PER_SECOND);
  }

  #set(grant: Grant, value: number): void {
    this.#levels.set(tokenIdOf(grant), { value: Math.max(0, value), at: this.#now() });
  }

  #forgetIdle(): void {
    for (const [id, level] of this.#levels) if (this.#decayed(level) === 0) this.#levels.delete(id);
  }
}
// Bytes of snapshots that clients have not read yet, of one token and in all. One snapshot is always allowed.
const MAX_SNAPSHOT_BYTES_PER_TOKEN = 64 * 1024 * 1024;
const MAX_SNAPSHOT_BYTES = 256 * 1024 * 1024;

// How long a client may wait for its snapshot because of others.
const SNAPSHOT_WAIT_MS = 60_000;

interface Holder {
  readonly identity: { readonly grant: Grant };
}

interface Waiter {
  readonly holder: Holder;
  readonly bytes: number;
  readonly admit: () => void;
}

/** Limits the memory of snapshots that clients do not read: further clients wait until others have read theirs. */
export class SnapshotBudget {
  readonly #held = new Map<Holder, number>();
  readonly #waiting = new Set<Waiter>();

  /** Reserves memory for a snapshot of about this size. Rejects with `overloaded` after a long wait. */
  async reserve(holder: Holder, bytes: number): Promise<void> {
    if (this.#hasRoom(holder, bytes)) {
      this.hold(holder, bytes);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
      };
      const admit = () => {
        stop();
        this.#held.set(holder, bytes);
        resolve();
      };
      const waiter: Waiter = { holder, bytes, admit };
      const refuse = () => {
        stop();
        reject(new Refusal('overloaded', 'Too many conversations are unread'));
      };
      const timer = setTimeout(refuse, SNAPSHOT_WAIT_MS).unref();
      this.#waiting.add(waiter);
    });
  }

  /** Sets the unread bytes of a client's snapshot. */
  hold(holder: Holder, bytes: number): void {
    if (bytes > 0) this.#held.set(holder, bytes);
    else this.#held.delete(holder);
    this.#admitWaiting();
  }

  /** Lowers the bytes of a client's snapshot to what is unread of it. */
  lower(holder: Holder, unreadBytes: number): void {
    const held = this.#held.get(holder);
    if (held !== undefined && unreadBytes < held) this.hold(holder, unreadBytes);
  }

  /** Admits a client that has closed, so that it waits no longer, and frees its memory. */
  release(holder: Holder): void {
    for (const waiter of this.#waiting) if (waiter.holder === holder) waiter.admit();
    this.hold(holder, 0);
  }

  #admitWaiting(): void {
    for (const { holder, bytes, admit } of [...this.#waiting]) if (this.#hasRoom(holder, bytes)) admit();
  }

  #hasRoom(holder: Holder, bytes: number): boolean {
    const token = tokenIdOf(holder.identity.grant);
    const others = [...this.#held].filter(([other]) => other !== holder);
    const ofToken = others.filter(([{ identity }]) => tokenIdOf(identity.grant) === token);
    return fits(bytes, sum(ofToken), MAX_SNAPSHOT_BYTES_PER_TOKEN) && fits(bytes, sum(others), MAX_SNAPSHOT_BYTES);
  }
}

const sum = (held: readonly (readonly [Holder, number])[]) => held.reduce((total, [, bytes]) => total + bytes, 0);

const fits = (bytes: number, held: number, limit: number) => held === 0 || held + bytes <= limit;
