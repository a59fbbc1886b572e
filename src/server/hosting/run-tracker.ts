import type { Accepted, AgentEvent, AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import type { RunningRecord, RunRecords, SettledRecord } from '../../store/run-journal.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { AgentResponse } from '../agent-response.ts';
import type { Access, CommandRequest, Cursor } from '../sessions.ts';
import type { RunStore } from './storage/session-storage.ts';

const PROMPT_COMMANDS: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);

// Queued messages whose client ids are tracked.
const MAX_TRACKED = 1000;

const MAX_RUN_ENDS = 20;

interface ActiveRun {
  // Empty until it is known.
  runId: string;
  readonly clientMessageIds: Set<string>;
}

/**
 * Tracks the active run, so that it can be ended after a crash, and stores recent run ends for clients that missed
 * them.
 */
export class RunTracker {
  readonly #runJournal: RunStore;
  readonly #epoch: () => string;
  /** The client's ids of queued messages, by queue id. */
  readonly #queued = new Map<string, string>();
  /**
   * The client's ids of messages that left the queue while no run was active. A run that starts without the response to
   * a prompt contains them.
   */
  readonly #unqueued = new Map<string, string>();
  #sessionId = '';
  /** With `read`, nothing is stored. */
  #access: Access = 'write';
  #run: ActiveRun | undefined;
  #ended: readonly SettledRecord[] = [];
  #lastSettled = '';

  constructor(runJournal: RunStore, epoch: () => string) {
    this.#runJournal = runJournal;
    this.#epoch = epoch;
  }

  get isActive(): boolean {
    return this.#run !== undefined;
  }

  /** Undefined between runs, and while the id is unknown. */
  get activeRunId(): string | undefined {
    return this.#run?.runId || undefined;
  }

  get hasRunId(): boolean {
    return this.#run !== undefined && this.#run.runId !== '';
  }

  /** Enters a session and ends a run that an earlier server left unfinished there. */
  enterSession(sessionId: string, access: Access = this.#access): void {
    if (sessionId === this.#sessionId && access === this.#access) return;
    if (sessionId !== this.#sessionId && this.#sessionId !== '') this.forget();
    this.#sessionId = sessionId;
    this.#access = access;
    const { running, ended } = this.#runJournal.get(sessionId);
    this.#ended = ended;
    if (running) this.#end({ epoch: running.epoch, settled: interruptedSettled(running) });
    this.#save();
  }

  /** `agent_settled` events after this cursor. */
  endsAfter({ epoch, after }: Cursor): AgentSettledEvent[] {
    const first = this.#ended.findIndex((end) => end.epoch === epoch);
    const since = first === -1 ? [] : this.#ended.slice(first);
    const missed = since.filter((end) => end.epoch !== epoch || end.seq === undefined || end.seq > after);
    return missed.map(({ settled }) => settled);
  }

  /** Removes the stored run ends. */
  forget(): void {
    if (this.#access === 'write') this.#runJournal.clear(this.#sessionId);
  }

  /** Stores an accepted message before its sender gets the response; returns how it was accepted. */
  handleResponse(request: CommandRequest, response: AgentResponse): Partial<Accepted> {
    if (response.success) this.#withdraw(request);
    if (!response.success || !PROMPT_COMMANDS.has(request.type)) return {};
    const accepted = (response.data() ?? {}) as Partial<Accepted>;
    const { runId, queueId } = accepted;
    const { clientMessageId } = request;
    const messageId = typeof clientMessageId === 'string' ? clientMessageId : undefined;
    if (messageId !== undefined && queueId !== undefined && this.#queued.size < MAX_TRACKED)
      this.#queued.set(queueId, messageId);
    if (runId !== undefined) this.markRunning(runId, queueId === undefined ? messageId : undefined);
    return accepted;
  }

  /** Messages that a client withdrew from the queue belong to no run. */
  #withdraw({ type, queueId, clearQueue }: CommandRequest): void {
    if (type === 'remove_queued') this.#unqueued.delete(String(queueId));
    if (type === 'clear_queue' || (type === 'abort' && clearQueue === true)) this.#unqueued.clear();
  }

  /** Marks this run as active and adds a message to it. */
  markRunning(runId: string, clientMessageId?: string): void {
    if (runId === this.#lastSettled) return;
    if (this.#run?.runId === '') this.#run.runId = runId;
    if (this.#run?.runId !== runId) {
      this.#run = { runId, clientMessageIds: new Set() };
      this.#unqueued.clear();
    }
    if (clientMessageId !== undefined) this.#run.clientMessageIds.add(clientMessageId);
    this.#save();
  }

  apply(event: AgentEvent, seq: number): void {
    if (event.type === 'agent_start' && !this.#run) {
      this.#run = { runId: '', clientMessageIds: new Set(this.#unqueued.values()) };
      this.#unqueued.clear();
      this.#save();
    }
    if (event.type === 'queue_update') this.#deliver(new Set(event.items.map(({ id }) => id)));
    if (event.type !== 'agent_settled') return;
    this.#run = undefined;
    this.#lastSettled = event.runId;
    this.#end({ epoch: this.#epoch(), seq, settled: event });
  }

  /** The end of the active run for an agent that exited. The run stays active until this event is applied. */
  interruptedEnd(): AgentSettledEvent | undefined {
    this.#queued.clear();
    this.#unqueued.clear();
    return this.#run && interruptedSettled(this.#toMark(this.#run));
  }

  /** Adds messages that left the queue to the run, or to the next one. */
  #deliver(waiting: ReadonlySet<string>): void {
    for (const [id, clientMessageId] of this.#queued) {
      if (waiting.has(id)) continue;
      this.#queued.delete(id);
      if (this.#run) this.#run.clientMessageIds.add(clientMessageId);
      else this.#unqueued.set(id, clientMessageId);
      this.#save();
    }
  }

  #save(): void {
    if (this.#run) this.#store({ running: this.#toMark(this.#run), ended: this.#ended });
  }

  #end(end: SettledRecord): void {
    this.#ended = [...this.#ended, end].slice(-MAX_RUN_ENDS);
    this.#store({ ended: this.#ended });
  }

  #store(records: RunRecords): void {
    if (this.#access === 'write') this.#runJournal.set(this.#sessionId, records);
  }

  #toMark({ runId, clientMessageIds }: ActiveRun): RunningRecord {
    return { epoch: this.#epoch(), runId, clientMessageIds: [...clientMessageIds] };
  }
}

/** The end of a run whose agent or server exited. It gets an id if the agent had not reported one yet. */
const interruptedSettled = ({ runId, clientMessageIds }: RunningRecord): AgentSettledEvent => ({
  type: 'agent_settled',
  runId: runId || newUuid(),
  aborted: false,
  outcome: 'error',
  errorCode: 'interrupted',
  errorMessage: 'The agent ended before the run was over',
  clientMessageIds: [...clientMessageIds],
});
