import type { AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import type { Cursor, Subscriber, Snapshot, AttachOptions } from '../sessions.ts';
import type { Subscribers, SessionLocation } from './subscribers.ts';
import type { HostedAgent } from './hosted-agent.ts';
import { fetchSnapshot } from './snapshot.ts';
import type { PublishedMessages } from './published-messages.ts';

interface SnapshotSenderParts {
  readonly subscribers: Subscribers;
  readonly published: PublishedMessages;
  readonly location: () => SessionLocation;
  /** The ends of runs that somebody has not heard. */
  readonly runEndsAfter: (cursor: Cursor) => readonly AgentSettledEvent[];
  /** Calls back as soon as there is an agent that can be asked; with none when there will be none. */
  readonly whenReady: (work: (agent: HostedAgent | undefined) => void) => void;
}

/** Tells clients the conversation: one who comes, or all of them when it has become another one. */
export class SnapshotSender {
  readonly #parts: SnapshotSenderParts;
  /** Who is content with so many of the last messages. */
  readonly #tails = new WeakMap<Subscriber, number>();

  constructor(parts: SnapshotSenderParts) {
    this.#parts = parts;
  }

  /** Lets a client go on where it was, or tells it everything; answers which. */
  async attach(subscriber: Subscriber, { cursor, tail }: AttachOptions): Promise<'resumed' | 'snapshot'> {
    const { subscribers, location } = this.#parts;
    if (tail !== undefined) this.#tails.set(subscriber, tail);
    const resumed = cursor && (await subscribers.resume(subscriber, cursor, location()));
    if (!resumed) await this.#attachWithSnapshot(subscriber, { cursor, tail });
    else if (resumed === 'outdated') await this.#sendRefreshed(tail, (snapshot) => subscriber.onSnapshot(snapshot));
    return resumed ? 'resumed' : 'snapshot';
  }

  /** Tells everybody the conversation anew: those who want as much of it as others, together with them. */
  resend(): void {
    const { subscribers } = this.#parts;
    for (const tail of this.#requestedTails()) {
      const send = (snapshot: Snapshot) => {
        for (const subscriber of subscribers.attached) if (this.#tails.get(subscriber) === tail) subscriber.onSnapshot(snapshot);
      };
      this.#sendRefreshed(tail, send).catch(() => {});
    }
  }

  /** Until `tell` has told it, nobody has heard that the conversation has become another one. */
  #sendRefreshed(tail: number | undefined, send: (snapshot: Snapshot) => void): Promise<void> {
    const markCurrent = this.#parts.subscribers.markStale();
    const use = (snapshot: Snapshot) => {
      send(snapshot);
      markCurrent();
    };
    return this.#withSnapshot(tail, use).finally(markCurrent);
  }

  /** Everybody is in another session now: tells each of them where, and what is going on there. */
  announceSessionChange(onSnapshot: (snapshot: Snapshot) => void): void {
    const { subscribers, location } = this.#parts;
    const announceTo = (tail: number | undefined) => (snapshot: Snapshot) => {
      onSnapshot(snapshot);
      for (const subscriber of [...subscribers.attached]) {
        if (this.#tails.get(subscriber) !== tail) continue;
        subscribers.attach(subscriber, { location: location(), snapshot, resume: undefined, runEnds: [] });
      }
    };
    subscribers.enterNewSession();
    for (const tail of this.#requestedTails()) this.#withSnapshot(tail, announceTo(tail)).catch(() => {});
  }

  /** How much of the conversation those who are here want; there is somebody, even if there is nobody. */
  #requestedTails(): ReadonlySet<number | undefined> {
    const tails = [...this.#parts.subscribers.attached].map((subscriber) => this.#tails.get(subscriber));
    return new Set(tails.length === 0 ? [undefined] : tails);
  }

  #attachWithSnapshot(subscriber: Subscriber, { cursor, tail }: AttachOptions): Promise<void> {
    const { subscribers, location, runEndsAfter } = this.#parts;
    const resume = cursor ? ('gap' as const) : undefined;
    return this.#withSnapshot(tail, (snapshot) => {
      const runEnds = cursor ? runEndsAfter(cursor) : [];
      subscribers.attach(subscriber, { location: location(), snapshot, resume, runEnds });
    });
  }

  /** `use` is called at the very moment of which the snapshot tells. */
  #withSnapshot(tail: number | undefined, use: (snapshot: Snapshot) => void): Promise<void> {
    const { subscribers, published, whenReady } = this.#parts;
    return new Promise((resolve, reject) => {
      const done = (snapshot: Snapshot) => {
        use(snapshot);
        resolve();
      };
      const fetch = () =>
        whenReady((agent) => {
          if (!agent) {
            reject(new Error('Pi process terminated'));
            return;
          }
          // One that died meanwhile is followed by another.
          const fail = (error: Error) =>
            queueMicrotask(() => whenReady((next) => (next === agent ? reject(error) : fetch())));
          fetchSnapshot({ agent, tail, published, lastSeq: () => subscribers.lastSeq, onSnapshot: done, onError: fail });
        });
      fetch();
    });
  }
}
