import type { Accepted, AgentEvent, AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import type { RunMark, RunMarks } from '../../store/run-marks.ts';
import type { Request } from '../sessions.ts';
import type { Answer } from './answer.ts';

const PROMPTING: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);

/** Messages that wait in a queue, of which it is known who sent them. */
const MAX_QUEUED = 1000;

interface ActiveRun {
  /** Empty as long as nobody has said it. */
  runId: string;
  readonly clientMessageIds: Set<string>;
}

/** Knows the run that is under way, so that it can be ended when its agent is gone. */
export class RunWatch {
  readonly #marks: RunMarks;
  readonly #epoch: () => string;
  /** What clients call the messages that wait in the queue, by what the agent calls them. */
  readonly #queued = new Map<string, string>();
  #sessionId = '';
  #run: ActiveRun | undefined;
  #lastSettled = '';

  constructor(marks: RunMarks, epoch: () => string) {
    this.#marks = marks;
    this.#epoch = epoch;
  }

  get isActive(): boolean {
    return this.#run !== undefined;
  }

  /** Whether the id of the run is known. */
  get isKnown(): boolean {
    return this.#run !== undefined && this.#run.runId !== '';
  }

  /** The agent is in this session now. */
  enter(sessionId: string): void {
    if (this.#sessionId !== sessionId && this.#sessionId !== '') this.#marks.clear(this.#sessionId);
    this.#sessionId = sessionId;
    this.#mark();
  }

  /** A command was answered. That a message was accepted is written down before its sender is told. */
  answered({ type, clientMessageId }: Request, answer: Answer): void {
    if (!answer.success || !PROMPTING.has(type)) return;
    const { runId, queueId } = (answer.data() ?? {}) as Partial<Accepted>;
    if (runId === undefined) return;
    const name = typeof clientMessageId === 'string' ? clientMessageId : undefined;
    if (name !== undefined && queueId !== undefined && this.#queued.size < MAX_QUEUED) this.#queued.set(queueId, name);
    this.goesOn(runId, queueId === undefined ? name : undefined);
  }

  /** This run is under way, and serves this message. */
  goesOn(runId: string, clientMessageId?: string): void {
    if (runId === this.#lastSettled) return;
    if (this.#run?.runId === '') this.#run.runId = runId;
    if (this.#run?.runId !== runId) this.#run = { runId, clientMessageIds: new Set() };
    if (clientMessageId !== undefined) this.#run.clientMessageIds.add(clientMessageId);
    this.#mark();
  }

  hear(event: AgentEvent): void {
    if (event.type === 'agent_start' && !this.#run) {
      this.#run = { runId: '', clientMessageIds: new Set() };
      this.#mark();
    }
    if (event.type === 'queue_update') this.#deliver(new Set(event.items.map(({ id }) => id)));
    if (event.type !== 'agent_settled') return;
    this.#run = undefined;
    this.#lastSettled = event.runId;
    this.#marks.clear(this.#sessionId);
  }

  /** The end of the run that the agent cannot tell any more. */
  cutOff(): AgentSettledEvent | undefined {
    const mark = this.#run && this.#asMark(this.#run);
    this.#run = undefined;
    this.#queued.clear();
    this.#marks.clear(this.#sessionId);
    return mark && settledOf(mark);
  }

  /** What waits no longer is served by the run. */
  #deliver(waiting: ReadonlySet<string>): void {
    for (const [id, clientMessageId] of this.#queued) {
      if (waiting.has(id)) continue;
      this.#queued.delete(id);
      this.#run?.clientMessageIds.add(clientMessageId);
      this.#mark();
    }
  }

  #mark(): void {
    if (this.#run) this.#marks.set(this.#sessionId, this.#asMark(this.#run));
  }

  #asMark({ runId, clientMessageIds }: ActiveRun): RunMark {
    return { epoch: this.#epoch(), runId, clientMessageIds: [...clientMessageIds] };
  }
}

/** How a run ends whose agent or server was gone before it was over. */
export const settledOf = ({ runId, clientMessageIds }: RunMark): AgentSettledEvent => ({
  type: 'agent_settled',
  runId,
  aborted: false,
  outcome: 'error',
  errorCode: 'interrupted',
  errorMessage: 'The agent was gone before the run was over',
  clientMessageIds: [...clientMessageIds],
});
