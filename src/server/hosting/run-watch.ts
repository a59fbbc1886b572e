import type { AgentEvent, AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import type { RunMark, RunMarks } from '../../store/run-marks.ts';

/** Knows the run that is under way, so that it can be ended when its agent is gone. */
export class RunWatch {
  readonly #marks: RunMarks;
  readonly #epoch: () => string;
  #sessionId = '';
  #run: { runId: string; readonly clientMessageIds: Set<string> } | undefined;

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
    this.#sessionId = sessionId;
  }

  /** A message was accepted for this run. Written down before its sender is told. */
  accepted(runId: string, clientMessageId: string | undefined): void {
    if (this.#run?.runId !== runId) this.#run = { runId, clientMessageIds: new Set() };
    if (clientMessageId !== undefined) this.#run.clientMessageIds.add(clientMessageId);
    this.#mark();
  }

  hear({ type }: AgentEvent): void {
    if (type === 'agent_start' && !this.#run) {
      this.#run = { runId: '', clientMessageIds: new Set() };
      this.#mark();
    }
    if (type !== 'agent_settled') return;
    this.#run = undefined;
    this.#marks.clear(this.#sessionId);
  }

  /** The end of the run that the agent cannot tell any more. */
  cutOff(): AgentSettledEvent | undefined {
    const mark = this.#run && this.#asMark(this.#run);
    this.#run = undefined;
    this.#marks.clear(this.#sessionId);
    return mark && settledOf(mark);
  }

  #mark(): void {
    if (this.#run) this.#marks.set(this.#sessionId, this.#asMark(this.#run));
  }

  #asMark({ runId, clientMessageIds }: { runId: string; clientMessageIds: ReadonlySet<string> }): RunMark {
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
