import type { AgentEvent, AgentSettledEvent, AssistantMessage } from '../../protocol/generated/vocabulary.ts';
import type { Cursor, Greeting, Listener, Snapshot } from '../sessions.ts';
import { canShow } from './dialog-desk.ts';
import type { Journal, Kept } from './journal.ts';
import { SessionRecord } from './session-record.ts';
import { Situation } from './situation.ts';
import { Unheard } from './unheard.ts';

export type Place = Pick<Greeting, 'sessionId' | 'sessionFile'>;

/** Everybody who hears a session, and from where on. */
export class Audience {
  readonly situation = new Situation();
  readonly listeners = new Set<Listener>();
  readonly #journal: Journal;
  /** Those who are still told what they have missed; what happens meanwhile waits for them. */
  readonly #comingBack = new Map<Listener, SessionRecord[]>();
  /** Up to where those have heard who are ahead of what is told. */
  readonly #ahead = new Map<Listener, number>();
  /** The end of an answer that is not told yet, and the entry that holds it. */
  readonly #lastSteps: { readonly event: AgentEvent; readonly kept: Kept }[] = [];
  readonly #unheard = new Unheard();
  /** The number that was told last. */
  #told = 0;
  /** Whoever has heard less than this was in another session. */
  #floor = 0;
  /** Whoever has heard no more than this may not have heard that the conversation has become another one. */
  #outdated = -1;
  /** How many are about to be told that. */
  #renewals = 0;
  /** Since when entries are among what is told. */
  #entriesSince = Number.POSITIVE_INFINITY;

  readonly #stumbled: (error: unknown) => void;

  /** `stumbled`: a client could not be told something, which is nobody else's concern. */
  constructor(journal: Journal, stumbled: (error: unknown) => void) {
    this.#journal = journal;
    this.#stumbled = stumbled;
  }

  /** Tells everybody. The last step of an answer waits for the whole of it, which some clients are told with it. */
  publish(event: AgentEvent, kept: Kept): void {
    if (isLastStep(event) || (this.#lastSteps.length > 0 && event.type === 'entry_appended')) {
      this.#lastSteps.push({ event, kept });
      return;
    }
    const answer = event.type === 'message_end' && event.message.role === 'assistant' ? event.message : undefined;
    for (const step of this.#lastSteps.splice(0)) this.#tell(step.event, step.kept, answer);
    this.#tell(event, kept);
  }

  #tell(event: AgentEvent, { seq, text }: Kept, answer?: AssistantMessage): void {
    const soFar = this.situation.hear(event);
    const record = new SessionRecord(event, { seq, text, snapshot: soFar && (answer ?? soFar) });
    this.#told = seq;
    if (this.listeners.size === 0 && this.#comingBack.size === 0) this.#unheard.add(event);
    for (const listener of this.listeners) if (!this.#hasHeard(listener, seq)) this.#tellOne(listener, record);
    for (const waiting of this.#comingBack.values()) waiting.push(record);
  }

  #tellOne(listener: Listener, record: SessionRecord): void {
    try {
      if (wants(listener, record.event)) listener.hear(record);
    } catch (error) {
      this.#stumbled(error);
    }
  }

  /** From now on entries are told, too. */
  entriesBegin(): void {
    if (this.#entriesSince === Number.POSITIVE_INFINITY) this.#entriesSince = this.#told;
  }

  /** From now on they are not, until they begin anew. */
  entriesEnd(): void {
    this.#entriesSince = Number.POSITIVE_INFINITY;
  }

  /** Lets a client go on where it was, if everything since then is known. `outdated`: what it has heard before is. */
  async resume(listener: Listener, { epoch, after }: Cursor, place: Place): Promise<'ok' | 'outdated' | undefined> {
    if (epoch !== this.#journal.epoch || !this.#reaches(listener, after)) return undefined;
    const waiting: SessionRecord[] = [];
    this.#comingBack.set(listener, waiting);
    try {
      const kept = await this.#journal.read(after);
      if (!kept) return undefined;
      listener.connected({ ...place, epoch, seq: after, resume: 'ok' });
      const missed = kept.map(({ seq, text }) => new SessionRecord(JSON.parse(text) as AgentEvent, { seq, text }));
      const last = kept.at(-1)?.seq ?? after;
      for (const record of [...missed, ...waiting.filter(({ seq = 0 }) => seq > last)]) this.#tellOne(listener, record);
      this.#unheard.take();
      this.listeners.add(listener);
      // What was kept and is still to be told would be told twice.
      if (last > this.#told) this.#ahead.set(listener, last);
      return after <= this.#outdated || this.#renewals > 0 ? 'outdated' : 'ok';
    } finally {
      this.#comingBack.delete(listener);
    }
  }

  /** Tells a client where it is and what is under way; it hears everything from now on. */
  introduce(listener: Listener, { place, snapshot, resume, ended }: Introduction): void {
    listener.connected({ ...place, epoch: this.#journal.epoch, seq: this.#told, resume });
    // Ahead of the snapshot: another run may be under way in that.
    for (const settled of ended) listener.hear(new SessionRecord(settled));
    listener.synced(snapshot);
    const missed = this.#unheard.take().map((event) => new SessionRecord(event));
    for (const record of [...missed, ...this.situation.retold()]) this.#tellOne(listener, record);
    this.listeners.add(listener);
  }

  /** The conversation has become another one than events tell of. What is returned is to be called when that was told. */
  outdate(): () => void {
    let isTold = false;
    this.#renewals++;
    return () => {
      if (isTold) return;
      isTold = true;
      this.#renewals--;
      this.#outdated = this.#told;
    };
  }

  /** Everybody is in another session now: what they have heard before does not lead there. */
  leave(): void {
    this.#floor = this.#told;
  }

  /** The number that was told last. */
  get told(): number {
    return this.#told;
  }

  remove(listener: Listener): void {
    this.listeners.delete(listener);
    this.#comingBack.delete(listener);
    this.#ahead.delete(listener);
  }

  #hasHeard(listener: Listener, seq: number): boolean {
    const last = this.#ahead.get(listener);
    if (last !== undefined && last <= seq) this.#ahead.delete(listener);
    return last !== undefined && seq <= last;
  }

  #reaches(listener: Listener, after: number): boolean {
    if (after < this.#floor || after > this.#journal.last) return false;
    if (listener.entries && after < this.#entriesSince) return false;
    return !listener.isCumulative || (after === this.#told && !this.situation.isStreaming);
  }
}

interface Introduction {
  readonly place: Place;
  readonly snapshot: Snapshot;
  readonly resume: 'gap' | undefined;
  /** The ends of runs that it has not heard. */
  readonly ended: readonly AgentSettledEvent[];
}

const isLastStep = (event: AgentEvent) =>
  event.type === 'message_update' && /^(done|error)$/.test(event.assistantMessageEvent.type);

export const wants = (listener: Listener, event: AgentEvent): boolean => {
  if (event.type === 'entry_appended') return listener.entries;
  return event.type !== 'extension_ui_request' || canShow(listener, event.method);
};
