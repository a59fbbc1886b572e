import type { AgentEvent, BashCommand, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { AgentResponse } from '../agent-response.ts';
import type { Subscribers } from './subscribers.ts';
import type { SnapshotSender } from './snapshot-sender.ts';
import type { DialogTimeouts } from './dialog-timeouts.ts';
import type { EntryRouter } from './entry-router.ts';
import { Heartbeats } from './heartbeats.ts';
import type { HostedAgent } from './hosted-agent.ts';
import { EventSequencer } from './event-sequencer.ts';
import type { Journal } from './journal.ts';
import type { RunTracker } from './run-tracker.ts';
import { SessionRecord } from '../session-record.ts';
import type { PublishedMessages } from './published-messages.ts';
import type { HostToolRouter } from './host-tool-router.ts';

interface PublisherParts {
  readonly journal: Journal;
  readonly subscribers: Subscribers;
  readonly snapshots: SnapshotSender;
  readonly runs: RunTracker;
  readonly published: PublishedMessages;
  readonly tools: HostToolRouter;
  readonly dialogTimeouts: DialogTimeouts;
  readonly entryRouter: EntryRouter;
  readonly agent: () => HostedAgent | undefined;
  /** The agent is in another session. */
  readonly onSessionChange: (state: SessionState) => void;
  /** There may be nothing to do any more. */
  readonly schedulePark: () => void;
  /** Nothing can be kept any more. */
  readonly onJournalError: (error: unknown) => void;
  readonly onError: (error: unknown) => void;
}

/** What happens in a session, from what the agent says to everybody who hears it, in one order. */
export class EventPublisher {
  readonly #parts: PublisherParts;
  readonly #sequencer: EventSequencer;
  readonly #heartbeats = new Heartbeats();
  /** What everybody was told to run in the shell. */
  #runningBash = 'null';
  /** Something was said of which no event tells. */
  #hasUnsentBash = false;

  constructor(parts: PublisherParts) {
    const { journal, onJournalError, onError } = parts;
    this.#parts = parts;
    this.#sequencer = new EventSequencer({ append: (texts) => journal.append(texts), onJournalError, onListenerError: onError });
  }

  /** Does something behind everything that was said before. */
  enqueue(handle: () => void): void {
    this.#sequencer.push({ handle });
  }

  /** Takes what the agent says. */
  handleEvent(event: AgentEvent, text: string): void {
    const enqueue = (handle: () => void) => this.enqueue(handle);
    if (event.type === 'ready') return;
    if (event.type === 'heartbeat') enqueue(() => this.#heartbeats.forward(event, this.#parts.subscribers.attached));
    else if (event.type === 'host_tool_call')
      enqueue(() => this.#parts.tools.call(event, (failure) => this.#parts.agent()?.sendFrame(failure)));
    else if (event.type === 'host_tool_cancel') enqueue(() => this.#parts.tools.cancel(event));
    else if (event.type === 'bash_execution_update') {
      const { requester, requestId } = this.#parts.agent()?.pendingRequest(event.id) ?? {};
      enqueue(() => requester?.sendPrivate(requestId === undefined ? { ...event, id: undefined } : { ...event, id: requestId }));
    } else if (event.type === 'entry_appended') {
      const recipient = this.#parts.entryRouter.recipientOf(event);
      if (recipient === 'all') this.#journalAndApply(event, text);
      else enqueue(() => (recipient.receivesEntries ? recipient.onRecord(new SessionRecord(event, { text })) : undefined));
    } else this.#journalAndApply(event, text);
  }

  #publish(event: AgentEvent): void {
    this.#journalAndApply(event, JSON.stringify(event));
  }

  #journalAndApply(event: AgentEvent, text: string): void {
    this.#sequencer.push({ journalText: text, handle: (seq = 0) => this.#apply(event, { seq, text }) });
  }

  #apply(event: AgentEvent, journaled: { seq: number; text: string }): void {
    this.#parts.runs.apply(event, journaled.seq);
    this.#parts.published.apply(event);
    this.#parts.subscribers.publish(event, journaled);
    if (event.type === 'agent_start' && !this.#parts.runs.hasRunId) this.#fetchRunId();
    if (event.type === 'agent_settled') this.#handleSettled();
    if (event.type === 'extension_ui_request')
      this.#parts.dialogTimeouts.update(this.#parts.subscribers.liveState.dialogs, this.#parts.subscribers.attached);
    if (event.type === 'compaction_end' && event.result) this.#parts.snapshots.resend();
    if (event.type === 'state_changed') this.#handleStateChange(event.state);
  }

  /** The agent went to another session by itself, or its conversation goes on from another entry. */
  #handleStateChange({ sessionId, messageCount }: Readonly<Record<string, unknown>>): void {
    if (typeof messageCount === 'number') this.#parts.published.markUpTo(messageCount);
    if (typeof sessionId === 'string') this.#handleSessionChange();
    else if (typeof messageCount === 'number') this.#parts.snapshots.resend();
  }

  /** What a command prints is for whoever has given it; that it runs, for everybody. */
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

  /** No event tells of what users run in the shell: everybody is told the conversation, as soon as it is part of it. */
  handleBashEnd(): void {
    this.refreshRunningBash();
    this.#hasUnsentBash = this.#parts.runs.isActive;
    if (!this.#hasUnsentBash) this.#parts.snapshots.resend();
  }

  /** A message that is part of the conversation already is said once more: its run had not begun. */
  expectRepeat(): void {
    this.#parts.published.expectRepeat();
    this.#parts.snapshots.resend();
  }

  #handleSettled(): void {
    if (this.#hasUnsentBash) this.#parts.snapshots.resend();
    this.#hasUnsentBash = false;
    this.#parts.schedulePark();
  }

  /** An extension has opened a run: nobody was told its id. */
  #fetchRunId(): void {
    const onResponse = (response: AgentResponse) => {
      const { runId } = response.success ? (response.data() as SessionState) : {};
      if (runId !== undefined) this.#parts.runs.markRunning(runId);
    };
    this.#parts.agent()?.request({ type: 'get_state' }, { onResponse });
  }

  /** Everybody goes along. */
  #handleSessionChange(): void {
    this.#parts.entryRouter.reset();
    this.#parts.subscribers.stopEntries();
    this.#parts.snapshots.announceSessionChange(({ state }) => {
      this.#parts.runs.enterSession(state.sessionId);
      this.#parts.onSessionChange(state);
    });
  }

  /** Ends what was under way, as the agent would have. Settles when everybody was told. */
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

  /** A dialog is over, and the agent does not tell. */
  resolveDialog(id: string, by: string): void {
    if (this.#parts.subscribers.liveState.dialogs.delete(id)) this.#publish({ type: 'extension_ui_resolved', id, by });
  }
}
