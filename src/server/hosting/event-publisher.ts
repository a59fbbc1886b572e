import type { AgentEvent, BashCommand, EntryAppendedEvent, SessionState } from '../../protocol/generated/vocabulary.ts';
import { withIds } from '../../wire/dialect.ts';
import type { AgentResponse } from '../agent-response.ts';
import { SessionRecord } from '../session-record.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
import type { DialogTimeouts } from './dialog-timeouts.ts';
import type { EntryRouter } from './entry-router.ts';
import { EventSequencer } from './event-sequencer.ts';
import type { HostToolRouter } from './host-tool-router.ts';
import type { PublishedMessages } from './published-messages.ts';
import type { RunTracker } from './run-tracker.ts';
import type { SnapshotSender } from './snapshot-sender.ts';
import type { Journal } from './storage/journal.ts';
import { Heartbeats, type Subscribers } from './subscribers.ts';

interface PublisherParts {
  readonly journal: Journal;
  readonly subscribers: Subscribers;
  readonly snapshots: SnapshotSender;
  readonly runs: RunTracker;
  readonly pendingRuns: () => Promise<void> | undefined;
  readonly published: PublishedMessages;
  readonly tools: HostToolRouter;
  readonly dialogTimeouts: DialogTimeouts;
  readonly entryRouter: EntryRouter;
  readonly agent: () => HostedAgent | undefined;
  // The agent changed to another session.
  readonly onSessionChange: (state: SessionState) => void;
  // The host may be idle.
  readonly schedulePark: () => void;
  // The journal failed; nothing more is published.
  readonly onJournalError: (error: unknown) => void;
  readonly onError: (error: unknown) => void;
}

/** Turns agent events into journaled records for the subscribers, in one order. */
export class EventPublisher {
  readonly #parts: PublisherParts;
  readonly #sequencer: EventSequencer;
  readonly #heartbeats = new Heartbeats();
  /** The JSON of the running bash commands that were published last. */
  #runningBash = 'null';
  /** Whether a bash message was stored during a run and not sent yet. */
  #hasUnsentBash = false;
  /** Whether the end of a run is being stored, before clients receive it. */
  #isSettling = false;

  constructor(parts: PublisherParts) {
    const { journal, onJournalError, onError } = parts;
    this.#parts = parts;
    this.#sequencer = new EventSequencer({
      append: (texts, entries) => journal.append(texts, entries),
      onJournalError,
      onListenerError: onError,
      onFull: (isFull) => parts.agent()?.setReading(!isFull),
    });
  }

  /** Runs a handler after all earlier events. */
  enqueue(handle: () => void): void {
    this.#sequencer.push({ handle });
  }

  /** Whether clients have not received all earlier events. */
  get isBusy(): boolean {
    return this.#sequencer.isBusy;
  }

  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Settles when all earlier events are handled. */
  drained(): Promise<void> {
    return new Promise((done) => this.enqueue(done));
  }

  /**
   * Runs work when the runs are stored; later events wait for it. Call while an event or a response is handled, so that no
   * client receives the begin or end of a run that could be forgotten.
   */
  whenRunsAreStored(work: () => void): void {
    const pending = this.#parts.pendingRuns();
    if (!pending) work();
    else this.#sequencer.holdFor(pending.then(work).catch(this.#parts.onError));
  }

  /** Routes one agent event. */
  handleEvent(event: AgentEvent, text: string): void {
    const enqueue = (handle: () => void) => this.enqueue(handle);
    if (event.type === 'ready') return;
    if (event.type === 'heartbeat') enqueue(() => this.#heartbeats.forward(event, this.#parts.subscribers.attached));
    else if (event.type === 'host_tool_call')
      enqueue(() => this.#parts.tools.call(event, (failure) => this.#parts.agent()?.sendFrame(failure)));
    else if (event.type === 'host_tool_cancel') enqueue(() => this.#parts.tools.cancel(event));
    else if (event.type === 'bash_execution_update') {
      const { requester, requestId } = this.#parts.agent()?.pendingRequest(event.id) ?? {};
      enqueue(() =>
        requester?.sendPrivate(requestId === undefined ? { ...event, id: undefined } : { ...event, id: requestId }),
      );
    } else if (event.type === 'entry_appended') {
      const recipient = this.#parts.entryRouter.recipientOf(event);
      if (recipient === 'all') this.#storeEntry(event, text);
      else
        enqueue(() => (recipient.receivesEntries ? recipient.onRecord(new SessionRecord(event, { text })) : undefined));
    } else this.#journalAndApply(event, text);
  }

  /** Stores an entry, and publishes it if a client follows the entries. */
  #storeEntry(event: EntryAppendedEvent, text: string): void {
    const { entry } = event;
    const handle = (seq = 0) => this.#apply(event, { seq, text });
    if (this.#parts.subscribers.publishesEntries) this.#sequencer.push({ journalText: text, entry, handle });
    else this.#sequencer.push({ entry, size: text.length, handle: () => {} });
  }

  /** Publishes an event of the host, with the id of the run that it belongs to. */
  #publish(event: AgentEvent): void {
    const named = withIds(event, { sessionId: undefined, runId: this.#parts.runs.activeRunId });
    this.#journalAndApply(named, JSON.stringify(named));
  }

  #journalAndApply(event: AgentEvent, text: string): void {
    this.#sequencer.push({ journalText: text, handle: (seq = 0) => this.#apply(event, { seq, text }) });
  }

  #apply(event: AgentEvent, journaled: { seq: number; text: string }): void {
    this.#parts.runs.apply(event, journaled.seq);
    if (event.type !== 'agent_settled') {
      this.#publishApplied(event, journaled);
      return;
    }
    this.#isSettling = true;
    this.whenRunsAreStored(() => {
      this.#isSettling = false;
      this.#publishApplied(event, journaled);
    });
  }

  #publishApplied(event: AgentEvent, journaled: { seq: number; text: string }): void {
    this.#parts.published.apply(event);
    this.#parts.subscribers.publish(event, journaled);
    if (event.type === 'agent_start' && !this.#parts.runs.hasRunId) this.#fetchRunId();
    if (event.type === 'agent_settled') this.#handleSettled();
    if (event.type === 'extension_ui_request')
      this.#parts.dialogTimeouts.update(this.#parts.subscribers.liveState.dialogs, this.#parts.subscribers.attached);
    if (event.type === 'compaction_end' && event.result) this.#parts.snapshots.resend();
    if (event.type === 'state_changed') this.#handleStateChange(event.state);
  }

  /** Handles a change of session, or of the leaf within it. */
  #handleStateChange({ sessionId, messageCount }: Readonly<Record<string, unknown>>): void {
    if (typeof messageCount === 'number') this.#parts.published.markUpTo(messageCount);
    if (typeof sessionId === 'string') this.#handleSessionChange();
    else if (typeof messageCount === 'number') this.#parts.snapshots.resend();
  }

  /** Publishes which bash commands run; their output goes only to the client that started them. */
  refreshRunningBash(): void {
    const onResponse = (response: AgentResponse) => {
      if (response.success) this.#publishRunningBash((response.data() as SessionState).runningBash);
    };
    this.#parts.agent()?.request({ type: 'get_state' }, { onResponse });
  }

  #publishRunningBash(running: readonly BashCommand[] | undefined): void {
    const runningBash = running ?? null;
    const text = JSON.stringify(runningBash);
    if (text === this.#runningBash) return;
    this.#runningBash = text;
    this.#publish({ type: 'state_changed', state: { runningBash } });
  }

  /** Bash messages have no event, so a new snapshot is sent when they are part of the conversation. */
  handleBashEnd(): void {
    this.refreshRunningBash();
    this.#hasUnsentBash = this.#parts.runs.isActive;
    if (!this.#hasUnsentBash) this.#parts.snapshots.resend();
  }

  /** A repeated prompt is published again although it is stored: its run had not started. */
  expectRepeat(): void {
    this.#parts.published.expectRepeat();
    this.#parts.snapshots.resend();
  }

  #handleSettled(): void {
    if (this.#hasUnsentBash) this.#parts.snapshots.resend();
    this.#hasUnsentBash = false;
    this.#parts.schedulePark();
  }

  /** Fetches the id of a run that an extension started, since no response contained it. */
  #fetchRunId(): void {
    const onResponse = (response: AgentResponse) => {
      const { runId } = response.success ? (response.data() as SessionState) : {};
      if (runId !== undefined) this.#parts.runs.markRunning(runId);
    };
    this.#parts.agent()?.request({ type: 'get_state' }, { onResponse });
  }

  /** Moves all subscribers to the new session. */
  #handleSessionChange(): void {
    this.#parts.entryRouter.reset();
    this.#parts.subscribers.stopEntries();
    this.#parts.snapshots.announceSessionChange(({ state }) => {
      this.#parts.runs.enterSession(state.sessionId);
      this.#parts.onSessionChange(state);
    });
  }

  /** Publishes the end of all running work after a crash. Settles when that is published. */
  endInterrupted(reason: string): Promise<void> {
    this.#publish({ type: 'server_error', error: reason });
    const { liveState } = this.#parts.subscribers;
    return new Promise((done) => {
      const end = () => {
        const wasWorking = liveState.isWorking;
        for (const id of [...liveState.dialogs.keys()]) this.resolveDialog(id, 'abort');
        const settled = this.#parts.runs.interruptedEnd();
        const { compaction } = liveState;
        liveState.clear();
        for (const request of liveState.clearingEvents()) this.#publish(request);
        if (compaction)
          this.#publish({ ...compaction, type: 'compaction_end', result: null, aborted: true, willRetry: false });
        if (wasWorking) this.#publish({ type: 'agent_end', messages: [], willRetry: false, isTerminal: true });
        if (settled) this.#publish(settled);
        this.#publishRunningBash(undefined);
        this.#sequencer.push({ handle: () => done() });
      };
      this.#sequencer.push({ handle: end });
    });
  }

  /** Publishes the end of a dialog that the agent does not announce. */
  resolveDialog(id: string, by: string): void {
    if (this.#parts.subscribers.liveState.dialogs.delete(id)) this.#publish({ type: 'extension_ui_resolved', id, by });
  }
}
