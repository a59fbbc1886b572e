import type { HeartbeatEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';

/** Passes heartbeats on to each client as often as it wants them. The agent sends them as often as anybody does. */
export class Heartbeats {
  readonly #lastSentAt = new WeakMap<Subscriber, number>();

  /** The shortest interval that any of these wants; 0 when nobody does. */
  static intervalFor(subscribers: Iterable<Subscriber>): number {
    const intervals = [...subscribers].map(({ heartbeatMs }) => heartbeatMs).filter((ms) => ms > 0);
    return intervals.length > 0 ? Math.min(...intervals) : 0;
  }

  forward(event: HeartbeatEvent, subscribers: Iterable<Subscriber>): void {
    const now = performance.now();
    for (const subscriber of subscribers) {
      const last = this.#lastSentAt.get(subscriber) ?? Number.NEGATIVE_INFINITY;
      // Timers are not exact: half an interval is nearer to this one than to the next.
      if (subscriber.heartbeatMs === 0 || now - last < subscriber.heartbeatMs / 2) continue;
      this.#lastSentAt.set(subscriber, now);
      subscriber.sendPrivate(event);
    }
  }
}
