import type { Accepted, AgentEvent, AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import type { SettledRecord, RunningRecord, RunJournal } from '../../store/run-journal.ts';
import type { Cursor, CommandRequest } from '../sessions.ts';
import type { AgentResponse } from '../agent-response.ts';

const PROMPT_COMMANDS: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);

/** Messages that wait in a queue, of which it is known who sent them. */
const MAX_TRACKED = 1000;

/** Ends of runs that are remembered of a session. */
const MAX_RUN_ENDS = 20;

interface ActiveRun {
  /** Empty as long as nobody has said it. */
  runId: string;
  readonly clientMessageIds: Set<string>;
}

/**
 * Knows the run that is under way, so that it can be ended when its agent is gone, and the ends of those before it, for
 * clients that have missed them.
 */
export class RunTracker {
  readonly #runJournal: RunJournal;
  readonly #epoch: () => string;
  /** What clients call the messages that wait in the queue, by what the agent calls them. */
  readonly #queued = new Map<string, string>();
  #sessionId = '';
  #run: ActiveRun | undefined;
  #ended: readonly SettledRecord[] = [];
  #lastSettled = '';

  constructor(runJournal: RunJournal, epoch: () => string) {
    this.#runJournal = runJournal;
    this.#epoch = epoch;
  }

  get isActive(): boolean {
    return this.#run !== undefined;
  }

  /** Whether the id of the run is known. */
  get hasRunId(): boolean {
    return this.#run !== undefined && this.#run.runId !== '';
  }

  /** The agent is in this session now. A run that a server before this one has left unfinished there is over. */
  enterSession(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    if (this.#sessionId !== '') this.#runJournal.clear(this.#sessionId);
    this.#sessionId = sessionId;
    const { running, ended } = this.#runJournal.get(sessionId);
    this.#ended = ended;
    if (running) this.#end({ epoch: running.epoch, settled: interruptedSettled(running) });
    this.#save();
  }

  /** The ends of runs that somebody has not heard who has heard the session up to here. */
  endsAfter({ epoch, after }: Cursor): AgentSettledEvent[] {
    const first = this.#ended.findIndex((end) => end.epoch === epoch);
    const since = first === -1 ? [] : this.#ended.slice(first);
    const missed = since.filter((end) => end.epoch !== epoch || end.seq === undefined || end.seq > after);
    return missed.map(({ settled }) => settled);
  }

  /** Nobody is expected to ask any more. */
  forget(): void {
    this.#runJournal.clear(this.#sessionId);
  }

  /** A command was answered. That a message was accepted is written down before its sender is told; answers how. */
  handleResponse({ type, clientMessageId }: CommandRequest, response: AgentResponse): Partial<Accepted> {
    if (!response.success || !PROMPT_COMMANDS.has(type)) return {};
    const accepted = (response.data() ?? {}) as Partial<Accepted>;
    const { runId, queueId } = accepted;
    if (runId === undefined) return accepted;
    const messageId = typeof clientMessageId === 'string' ? clientMessageId : undefined;
    if (messageId !== undefined && queueId !== undefined && this.#queued.size < MAX_TRACKED) this.#queued.set(queueId, messageId);
    this.markRunning(runId, queueId === undefined ? messageId : undefined);
    return accepted;
  }

  /** This run is under way, and serves this message. */
  markRunning(runId: string, clientMessageId?: string): void {
    if (runId === this.#lastSettled) return;
    if (this.#run?.runId === '') this.#run.runId = runId;
    if (this.#run?.runId !== runId) this.#run = { runId, clientMessageIds: new Set() };
    if (clientMessageId !== undefined) this.#run.clientMessageIds.add(clientMessageId);
    this.#save();
  }

  apply(event: AgentEvent, seq: number): void {
    if (event.type === 'agent_start' && !this.#run) {
      this.#run = { runId: '', clientMessageIds: new Set() };
      this.#save();
    }
    if (event.type === 'queue_update') this.#deliver(new Set(event.items.map(({ id }) => id)));
    if (event.type !== 'agent_settled') return;
    this.#run = undefined;
    this.#lastSettled = event.runId;
    this.#end({ epoch: this.#epoch(), seq, settled: event });
  }

  /** The end of the run that the agent cannot tell any more. It is over when that is told. */
  interruptedEnd(): AgentSettledEvent | undefined {
    this.#queued.clear();
    return this.#run && interruptedSettled(this.#toMark(this.#run));
  }

  /** What waits no longer is served by the run. */
  #deliver(waiting: ReadonlySet<string>): void {
    for (const [id, clientMessageId] of this.#queued) {
      if (waiting.has(id)) continue;
      this.#queued.delete(id);
      this.#run?.clientMessageIds.add(clientMessageId);
      this.#save();
    }
  }

  #save(): void {
    if (this.#run) this.#runJournal.set(this.#sessionId, { running: this.#toMark(this.#run), ended: this.#ended });
  }

  #end(end: SettledRecord): void {
    this.#ended = [...this.#ended, end].slice(-MAX_RUN_ENDS);
    this.#runJournal.set(this.#sessionId, { ended: this.#ended });
  }

  #toMark({ runId, clientMessageIds }: ActiveRun): RunningRecord {
    return { epoch: this.#epoch(), runId, clientMessageIds: [...clientMessageIds] };
  }
}

/** How a run ends whose agent or server was gone before it was over. */
const interruptedSettled = ({ runId, clientMessageIds }: RunningRecord): AgentSettledEvent => ({
  type: 'agent_settled',
  runId,
  aborted: false,
  outcome: 'error',
  errorCode: 'interrupted',
  errorMessage: 'The agent was gone before the run was over',
  clientMessageIds: [...clientMessageIds],
});
