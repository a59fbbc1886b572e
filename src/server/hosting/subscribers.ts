import type { AgentEvent, AgentSettledEvent, AssistantMessage } from '../../protocol/generated/vocabulary.ts';
import type { Cursor, AttachResult, Subscriber, Snapshot } from '../sessions.ts';
import { receivesUiRequest } from './dialog-timeouts.ts';
import type { Journal, JournalRecord } from './journal.ts';
import { SessionRecord } from '../session-record.ts';
import { LiveState } from './live-state.ts';
import { MissedNotices } from './missed-notices.ts';

export type SessionLocation = Pick<AttachResult, 'sessionId' | 'sessionFile'>;

/** Everybody who hears a session, and from where on. */
export class Subscribers {
  readonly liveState = new LiveState();
  readonly attached = new Set<Subscriber>();
  readonly #journal: Journal;
  /** Those who are still told what they have missed; what happens meanwhile waits for them. */
  readonly #resuming = new Map<Subscriber, SessionRecord[]>();
  /** Up to where those have heard who are ahead of what is told. */
  readonly #ahead = new Map<Subscriber, number>();
  /** The end of an answer that is not told yet, and the entry that holds it. */
  readonly #heldSteps: { readonly event: AgentEvent; readonly journaled: JournalRecord }[] = [];
  readonly #missedNotices = new MissedNotices();
  /** The number that was told last. */
  #lastSeq = 0;
  /** Whoever has heard less than this was in another session. */
  #sessionStartSeq = 0;
  /** Whoever has heard no more than this may not have heard that the conversation has become another one. */
  #staleUpTo = -1;
  /** How many are about to be told that. */
  #pendingResends = 0;
  /** Since when entries are among what is told. */
  #entriesSince = Number.POSITIVE_INFINITY;

  readonly #onError: (error: unknown) => void;

  /** `stumbled`: a client could not be told something, which is nobody else's concern. */
  constructor(journal: Journal, onError: (error: unknown) => void) {
    this.#journal = journal;
    this.#onError = onError;
  }

  /** Tells everybody. The last step of an answer waits for the whole of it, which some clients are told with it. */
  publish(event: AgentEvent, journaled: JournalRecord): void {
    if (isFinalStep(event) || (this.#heldSteps.length > 0 && event.type === 'entry_appended')) {
      this.#heldSteps.push({ event, journaled });
      return;
    }
    const finalMessage = event.type === 'message_end' && event.message.role === 'assistant' ? event.message : undefined;
    for (const step of this.#heldSteps.splice(0)) this.#publishNow(step.event, step.journaled, finalMessage);
    this.#publishNow(event, journaled);
  }

  #publishNow(event: AgentEvent, { seq, text }: JournalRecord, finalMessage?: AssistantMessage): void {
    const partial = this.liveState.apply(event);
    const record = new SessionRecord(event, { seq, text, messageSoFar: partial && (finalMessage ?? partial) });
    this.#lastSeq = seq;
    if (this.attached.size === 0 && this.#resuming.size === 0) this.#missedNotices.add(event);
    for (const subscriber of this.attached) if (!this.#hasReceived(subscriber, seq)) this.#deliver(subscriber, record);
    for (const waiting of this.#resuming.values()) waiting.push(record);
  }

  #deliver(subscriber: Subscriber, record: SessionRecord): void {
    try {
      if (receivesEvent(subscriber, record.event)) subscriber.onRecord(record);
    } catch (error) {
      this.#onError(error);
    }
  }

  /** From now on entries are told, too. */
  startEntries(): void {
    if (this.#entriesSince === Number.POSITIVE_INFINITY) this.#entriesSince = this.#lastSeq;
  }

  /** From now on they are not, until they begin anew. */
  stopEntries(): void {
    this.#entriesSince = Number.POSITIVE_INFINITY;
  }

  /** Lets a client go on where it was, if everything since then is known. `outdated`: what it has heard before is. */
  async resume(subscriber: Subscriber, { epoch, after }: Cursor, location: SessionLocation): Promise<'ok' | 'outdated' | undefined> {
    if (epoch !== this.#journal.epoch || !this.#canResume(subscriber, after)) return undefined;
    const waiting: SessionRecord[] = [];
    this.#resuming.set(subscriber, waiting);
    try {
      const journaled = await this.#journal.read(after);
      if (!journaled) return undefined;
      subscriber.onAttached({ ...location, epoch, seq: after, resume: 'ok' });
      const missed = journaled.map(({ seq, text }) => new SessionRecord(JSON.parse(text) as AgentEvent, { seq, text }));
      const last = journaled.at(-1)?.seq ?? after;
      for (const record of [...missed, ...waiting.filter(({ seq = 0 }) => seq > last)]) this.#deliver(subscriber, record);
      this.#missedNotices.take();
      this.attached.add(subscriber);
      // What was kept and is still to be told would be told twice.
      if (last > this.#lastSeq) this.#ahead.set(subscriber, last);
      return after <= this.#staleUpTo || this.#pendingResends > 0 ? 'outdated' : 'ok';
    } finally {
      this.#resuming.delete(subscriber);
    }
  }

  /** Tells a client where it is and what is under way; it hears everything from now on. */
  attach(subscriber: Subscriber, { location, snapshot, resume, runEnds }: AttachSnapshot): void {
    subscriber.onAttached({ ...location, epoch: this.#journal.epoch, seq: this.#lastSeq, resume });
    // Ahead of the snapshot: another run may be under way in that.
    for (const settled of runEnds) subscriber.onRecord(new SessionRecord(settled));
    subscriber.onSnapshot(snapshot);
    const missed = this.#missedNotices.take().map((event) => new SessionRecord(event));
    for (const record of [...missed, ...this.liveState.toEvents()]) this.#deliver(subscriber, record);
    this.attached.add(subscriber);
  }

  /** The conversation has become another one than events tell of. What is returned is to be called when that was told. */
  markStale(): () => void {
    let isDone = false;
    this.#pendingResends++;
    return () => {
      if (isDone) return;
      isDone = true;
      this.#pendingResends--;
      this.#staleUpTo = this.#lastSeq;
    };
  }

  /** Everybody is in another session now: what they have heard before does not lead there. */
  enterNewSession(): void {
    this.#sessionStartSeq = this.#lastSeq;
  }

  /** The number that was told last. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  remove(subscriber: Subscriber): void {
    this.attached.delete(subscriber);
    this.#resuming.delete(subscriber);
    this.#ahead.delete(subscriber);
  }

  #hasReceived(subscriber: Subscriber, seq: number): boolean {
    const last = this.#ahead.get(subscriber);
    if (last !== undefined && last <= seq) this.#ahead.delete(subscriber);
    return last !== undefined && seq <= last;
  }

  #canResume(subscriber: Subscriber, after: number): boolean {
    if (after < this.#sessionStartSeq || after > this.#journal.last) return false;
    if (subscriber.receivesEntries && after < this.#entriesSince) return false;
    return !subscriber.isCumulative || (after === this.#lastSeq && !this.liveState.isStreaming);
  }
}

interface AttachSnapshot {
  readonly location: SessionLocation;
  readonly snapshot: Snapshot;
  readonly resume: 'gap' | undefined;
  /** The ends of runs that it has not heard. */
  readonly runEnds: readonly AgentSettledEvent[];
}

const isFinalStep = (event: AgentEvent) =>
  event.type === 'message_update' && /^(done|error)$/.test(event.assistantMessageEvent.type);

export const receivesEvent = (subscriber: Subscriber, event: AgentEvent): boolean => {
  if (event.type === 'entry_appended') return subscriber.receivesEntries;
  return event.type !== 'extension_ui_request' || receivesUiRequest(subscriber, event.method);
};
