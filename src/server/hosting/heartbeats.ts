import type { HeartbeatEvent } from '../../protocol/generated/vocabulary.ts';
import type { Listener } from '../sessions.ts';

/** Passes heartbeats on to each client as often as it wants them. The agent sends them as often as anybody does. */
export class Heartbeats {
  readonly #last = new WeakMap<Listener, number>();

  /** The shortest interval that any of these wants; 0 when nobody does. */
  static intervalFor(listeners: Iterable<Listener>): number {
    const intervals = [...listeners].map(({ heartbeatMs }) => heartbeatMs).filter((ms) => ms > 0);
    return intervals.length > 0 ? Math.min(...intervals) : 0;
  }

  pass(event: HeartbeatEvent, listeners: Iterable<Listener>): void {
    const now = performance.now();
    for (const listener of listeners) {
      const last = this.#last.get(listener) ?? Number.NEGATIVE_INFINITY;
      // Timers are not exact: half an interval is nearer to this one than to the next.
      if (listener.heartbeatMs === 0 || now - last < listener.heartbeatMs / 2) continue;
      this.#last.set(listener, now);
      listener.tell(event);
    }
  }
}
