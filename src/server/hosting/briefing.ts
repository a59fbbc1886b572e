import type { AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import type { Cursor, Listener, Snapshot, Wish } from '../sessions.ts';
import type { Audience, Place } from './audience.ts';
import type { HostedAgent } from './hosted-agent.ts';
import { takeSnapshot } from './snapshot.ts';
import type { Told } from './told.ts';

interface Parts {
  readonly audience: Audience;
  readonly told: Told;
  readonly place: () => Place;
  /** The ends of runs that somebody has not heard. */
  readonly missedBy: (cursor: Cursor) => readonly AgentSettledEvent[];
  /** Calls back as soon as there is an agent that can be asked; with none when there will be none. */
  readonly whenReady: (work: (agent: HostedAgent | undefined) => void) => void;
}

/** Tells clients the conversation: one who comes, or all of them when it has become another one. */
export class Briefing {
  readonly #parts: Parts;
  /** Who is content with so many of the last messages. */
  readonly #tails = new WeakMap<Listener, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Lets a client go on where it was, or tells it everything; answers which. */
  async attach(listener: Listener, { cursor, tail }: Wish): Promise<'resumed' | 'introduced'> {
    const { audience, place } = this.#parts;
    if (tail !== undefined) this.#tails.set(listener, tail);
    const resumed = cursor && (await audience.resume(listener, cursor, place()));
    if (!resumed) await this.#introduce(listener, { cursor, tail });
    else if (resumed === 'outdated') await this.#renew(tail, (snapshot) => listener.synced(snapshot));
    return resumed ? 'resumed' : 'introduced';
  }

  /** Tells everybody the conversation anew: those who want as much of it as others, together with them. */
  renew(): void {
    const { audience } = this.#parts;
    for (const tail of this.#wantedTails()) {
      const tell = (snapshot: Snapshot) => {
        for (const listener of audience.listeners) if (this.#tails.get(listener) === tail) listener.synced(snapshot);
      };
      this.#renew(tail, tell).catch(() => {});
    }
  }

  /** Until `tell` has told it, nobody has heard that the conversation has become another one. */
  #renew(tail: number | undefined, tell: (snapshot: Snapshot) => void): Promise<void> {
    const upToDate = this.#parts.audience.outdate();
    const use = (snapshot: Snapshot) => {
      tell(snapshot);
      upToDate();
    };
    return this.#snapshot(tail, use).finally(upToDate);
  }

  /** Everybody is in another session now: tells each of them where, and what is going on there. */
  move(known: (snapshot: Snapshot) => void): void {
    const { audience, place } = this.#parts;
    const tellAll = (tail: number | undefined) => (snapshot: Snapshot) => {
      known(snapshot);
      for (const listener of [...audience.listeners]) {
        if (this.#tails.get(listener) !== tail) continue;
        audience.introduce(listener, { place: place(), snapshot, resume: undefined, ended: [] });
      }
    };
    audience.leave();
    for (const tail of this.#wantedTails()) this.#snapshot(tail, tellAll(tail)).catch(() => {});
  }

  /** How much of the conversation those who are here want; there is somebody, even if there is nobody. */
  #wantedTails(): ReadonlySet<number | undefined> {
    const tails = [...this.#parts.audience.listeners].map((listener) => this.#tails.get(listener));
    return new Set(tails.length === 0 ? [undefined] : tails);
  }

  #introduce(listener: Listener, { cursor, tail }: Wish): Promise<void> {
    const { audience, place, missedBy } = this.#parts;
    const resume = cursor ? ('gap' as const) : undefined;
    return this.#snapshot(tail, (snapshot) => {
      const ended = cursor ? missedBy(cursor) : [];
      audience.introduce(listener, { place: place(), snapshot, resume, ended });
    });
  }

  /** `use` is called at the very moment of which the snapshot tells. */
  #snapshot(tail: number | undefined, use: (snapshot: Snapshot) => void): Promise<void> {
    const { audience, told, whenReady } = this.#parts;
    return new Promise((resolve, reject) => {
      const done = (snapshot: Snapshot) => {
        use(snapshot);
        resolve();
      };
      const begin = () =>
        whenReady((agent) => {
          if (!agent) {
            reject(new Error('Pi process terminated'));
            return;
          }
          // One that died meanwhile is followed by another.
          const fail = (error: Error) =>
            queueMicrotask(() => whenReady((next) => (next === agent ? reject(error) : begin())));
          takeSnapshot({ agent, tail, told, happened: () => audience.told, use: done, fail });
        });
      begin();
    });
  }
}
