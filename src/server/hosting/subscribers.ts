import { receivesUiRequest } from '../../fanout/ui-routing.ts';
import type {
  AgentEvent,
  AgentSettledEvent,
  AssistantMessage,
  ExtensionUiRequestEvent,
  HeartbeatEvent,
} from '../../protocol/generated/vocabulary.ts';
import { withIds } from '../../wire/dialect.ts';
import { SessionRecord } from '../session-record.ts';
import type { AttachResult, Cursor, Snapshot, Subscriber } from '../sessions.ts';
import { LiveState } from './live-state.ts';
import type { Journal, JournalRecord } from './storage/journal.ts';

export type SessionLocation = Pick<AttachResult, 'sessionId' | 'sessionFile'>;

/** The clients attached to a session, and the sequence numbers up to which they received its events. */
export class Subscribers {
  readonly liveState = new LiveState();
  readonly attached = new Set<Subscriber>();
  readonly #journal: Journal;
  /** Resuming clients with the records that arrived meanwhile. */
  readonly #resuming = new Map<Subscriber, SessionRecord[]>();
  /** Clients that received more from the journal than was published yet. */
  readonly #ahead = new Map<Subscriber, number>();
  /** The final steps of an assistant message and its entry, held until `message_end`. */
  readonly #heldSteps: { readonly event: AgentEvent; readonly journaled: JournalRecord }[] = [];
  readonly #missedNotices = new MissedNotices();
  /** The warnings of the running agent by their messages. */
  readonly #warnings = new Map<string, AgentEvent>();
  /** The sequence number published last. */
  #lastSeq = 0;
  /** Earlier cursors belong to another session. */
  #sessionStartSeq = 0;
  /** Cursors up to here may precede a change that no event describes. */
  #staleUpTo = -1;
  /** Snapshots of such a change that are still to be sent. */
  #pendingResends = 0;
  /** The sequence number since which entries are published. */
  #entriesSince = Number.POSITIVE_INFINITY;

  readonly #onError: (error: unknown) => void;
  readonly #activeRunId: () => string | undefined;

  /** `onError` gets the error of a client that could not receive a record; other clients are not affected. */
  constructor(journal: Journal, onError: (error: unknown) => void, activeRunId: () => string | undefined) {
    this.#journal = journal;
    this.#onError = onError;
    this.#activeRunId = activeRunId;
  }

  /**
   * Publishes an event. The final step of an assistant message waits for the complete message, which some clients get
   * with it.
   */
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
    if (event.type === 'warning') this.#warnings.set(event.message, event);
    if (!this.#hasViewer) this.#missedNotices.add(event);
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

  /** Entries are published from now on. */
  startEntries(): void {
    if (this.#entriesSince === Number.POSITIVE_INFINITY) this.#entriesSince = this.#lastSeq;
  }

  /** Whether a client follows the entries, or may resume to do so. */
  get publishesEntries(): boolean {
    const isFollowed = [...this.attached].some(({ receivesEntries }) => receivesEntries);
    return isFollowed || this.#entriesSince !== Number.POSITIVE_INFINITY;
  }

  /** Entries are not published until `startEntries`. */
  stopEntries(): void {
    this.#entriesSince = Number.POSITIVE_INFINITY;
  }

  /**
   * Resumes a client at its cursor if the journal still has everything since. `outdated`: it also needs a new snapshot;
   * undefined: it gets `attach` with `resume: 'gap'` instead.
   */
  async resume(
    subscriber: Subscriber,
    { epoch, after }: Cursor,
    location: SessionLocation,
  ): Promise<'ok' | 'outdated' | undefined> {
    if (epoch !== this.#journal.epoch || !this.#canResume(subscriber, after)) return undefined;
    const waiting: SessionRecord[] = [];
    this.#resuming.set(subscriber, waiting);
    try {
      const journaled = await this.#journal.read(after);
      if (!journaled) return undefined;
      subscriber.onAttached({ ...location, epoch, seq: after, resume: 'ok' });
      const missed = journaled.map(({ seq, text }) => new SessionRecord(JSON.parse(text) as AgentEvent, { seq, text }));
      const last = journaled.at(-1)?.seq ?? after;
      for (const record of [...missed, ...waiting.filter(({ seq = 0 }) => seq > last)])
        this.#deliver(subscriber, record);
      this.#missedNotices.take();
      this.attached.add(subscriber);
      // Journaled records that are still to be published would arrive twice.
      if (last > this.#lastSeq) this.#ahead.set(subscriber, last);
      return after <= this.#staleUpTo || this.#pendingResends > 0 ? 'outdated' : 'ok';
    } finally {
      this.#resuming.delete(subscriber);
    }
  }

  /** The next agent publishes its own warnings. */
  forgetWarnings(): void {
    this.#warnings.clear();
  }

  /**
   * Attaches a client with, in this order: its location, missed run ends, the snapshot, missed notices and the warnings of
   * the agent, the live state.
   */
  attach(subscriber: Subscriber, { location, snapshot, resume, runEnds }: AttachSnapshot): void {
    subscriber.onAttached({ ...location, epoch: this.#journal.epoch, seq: this.#lastSeq, resume });
    // Run ends precede the snapshot, because another run may be active in that.
    for (const settled of runEnds) subscriber.onRecord(new SessionRecord(settled));
    subscriber.onSnapshot(snapshot);
    const notices = subscriber.canView ? this.#missedNotices.take() : [];
    const missed = [...new Set([...notices, ...this.#warnings.values()])].map((event) => new SessionRecord(event));
    const live = [...this.liveState.toEvents()].map((record) => this.#withRunId(record));
    for (const record of [...missed, ...live]) this.#deliver(subscriber, record);
    this.attached.add(subscriber);
  }

  /** Sends a client the output of the running tools, as far as it came in delta form. */
  replayOutput(subscriber: Subscriber): void {
    for (const record of this.liveState.toEvents())
      if (record.event.type === 'tool_execution_update' && record.event.outputDelta !== undefined)
        this.#deliver(subscriber, this.#withRunId(record));
  }

  #withRunId({ event, seq, messageSoFar }: SessionRecord): SessionRecord {
    const named = withIds(event, { sessionId: undefined, runId: this.#activeRunId() });
    return new SessionRecord(named, { seq, messageSoFar });
  }

  /**
   * The conversation changed in a way that no event describes. The returned function marks the new snapshot as sent.
   */
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

  /** Cursors of the previous session can no longer be resumed. */
  enterNewSession(): void {
    this.#sessionStartSeq = this.#lastSeq;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  remove(subscriber: Subscriber): void {
    this.attached.delete(subscriber);
    this.#resuming.delete(subscriber);
    this.#ahead.delete(subscriber);
  }

  get #hasViewer(): boolean {
    return this.#resuming.size > 0 || [...this.attached].some(({ canView }) => canView);
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
  readonly runEnds: readonly AgentSettledEvent[];
}

const isFinalStep = (event: AgentEvent) =>
  event.type === 'message_update' && /^(done|error)$/.test(event.assistantMessageEvent.type);

export const receivesEvent = (subscriber: Subscriber, event: AgentEvent): boolean => {
  if (event.type === 'entry_appended') return subscriber.receivesEntries;
  return event.type !== 'extension_ui_request' || receivesRequest(subscriber, event);
};

/** Whether a client gets this dialog or notice, and may answer it. */
export const receivesRequest = (subscriber: Subscriber, { method, scope }: ExtensionUiRequestEvent): boolean =>
  receivesUiRequest(subscriber, method) && (scope === undefined || subscriber.isAdmin);

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

/** Beyond this, the oldest notice is dropped. */
export const MAX_KEPT_NOTICES = 100;

/** Notices that were published once while no client was attached, for the first one that attaches. */
export class MissedNotices {
  #notices: AgentEvent[] = [];

  add(event: AgentEvent): void {
    if (!isNotice(event)) return;
    this.#notices.push(event);
    if (this.#notices.length > MAX_KEPT_NOTICES) this.#notices.shift();
  }

  take(): readonly AgentEvent[] {
    return this.#notices.splice(0);
  }
}

const NOTICES: ReadonlySet<string> = new Set([
  'session_repaired',
  'trust_skipped',
  'warning',
  'extension_error',
  'mcp_status',
  'todo_auto_clear',
]);

const isNotice = (event: AgentEvent) =>
  NOTICES.has(event.type) || (event.type === 'extension_ui_request' && event.method === 'notify');
