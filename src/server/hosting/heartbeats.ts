import type { HeartbeatEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';

/** Forwards heartbeats to each client at its own interval. The agent sends them at the shortest one. */
export class Heartbeats {
  readonly #lastSentAt = new WeakMap<Subscriber, number>();

  /** The shortest interval of these clients; 0 if none has one. */
  static intervalFor(subscribers: Iterable<Subscriber>): number {
    const intervals = [...subscribers].map(({ heartbeatMs }) => heartbeatMs).filter((ms) => ms > 0);
    return intervals.length > 0 ? Math.min(...intervals) : 0;
  }

  forward(event: HeartbeatEvent, subscribers: Iterable<Subscriber>): void {
    const now = performance.now();
    for (const subscriber of subscribers) {
      const last = this.#lastSentAt.get(subscriber) ?? Number.NEGATIVE_INFINITY;
      // Timers are inexact: half an interval is closer to this heartbeat than to the next.
      if (subscriber.heartbeatMs === 0 || now - last < subscriber.heartbeatMs / 2) continue;
      this.#lastSentAt.set(subscriber, now);
      subscriber.sendPrivate(event);
    }
  }
}
