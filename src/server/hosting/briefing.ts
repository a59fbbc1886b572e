import type { RunMark } from '../../store/run-marks.ts';
import type { Listener, Snapshot, Wish } from '../sessions.ts';
import type { Audience, Place } from './audience.ts';
import type { HostedAgent } from './hosted-agent.ts';
import { settledOf } from './run-watch.ts';
import { SessionRecord } from './session-record.ts';
import { takeSnapshot } from './snapshot.ts';
import type { Told } from './told.ts';

interface Parts {
  readonly audience: Audience;
  readonly told: Told;
  readonly place: () => Place;
  /** The run that a server before this one has left unfinished, if it has. */
  readonly leftOver: RunMark | undefined;
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
    else if (resumed === 'outdated') await this.#snapshot(tail, (snapshot) => listener.synced(snapshot));
    return resumed ? 'resumed' : 'introduced';
  }

  /** Tells everybody the conversation anew: those who want as much of it as others, together with them. */
  renew(): void {
    const { audience } = this.#parts;
    audience.outdate();
    const tailOf = (listener: Listener) => this.#tails.get(listener);
    for (const tail of new Set([...audience.listeners].map(tailOf))) {
      const tell = (snapshot: Snapshot) => {
        for (const listener of audience.listeners) if (tailOf(listener) === tail) listener.synced(snapshot);
      };
      this.#snapshot(tail, tell).catch(() => {});
    }
  }

  /** Everybody is in another session now. */
  move(known: (snapshot: Snapshot) => void): void {
    const { audience, place } = this.#parts;
    const moved = (snapshot: Snapshot) => {
      known(snapshot);
      audience.move(place(), snapshot);
    };
    this.#snapshot(undefined, moved).catch(() => {});
  }

  #introduce(listener: Listener, { cursor, tail }: Wish): Promise<void> {
    const { audience, place, leftOver } = this.#parts;
    const resume = cursor ? ('gap' as const) : undefined;
    return this.#snapshot(tail, (snapshot) => {
      audience.introduce(listener, { place: place(), snapshot, resume });
      if (leftOver && leftOver.epoch === cursor?.epoch) listener.hear(new SessionRecord(settledOf(leftOver)));
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
