import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { LiveSession } from '../../state/live-session.ts';
import { type MessageRow, toolCallIds } from './rows.ts';
import { type RunSummary, summarizeRun } from './run-summary.ts';

/** A row that stands for the steps of a finished run. */
export interface FoldRow extends Pick<MessageRow, 'continues' | 'day' | 'model' | 'summary'> {
  /** The negative key of the message after the steps. */
  readonly key: number;
  readonly isOpen: boolean;
  readonly run: RunSummary;
}

export type ListRow = MessageRow | FoldRow;

export const isFold = (row: ListRow): row is FoldRow => 'isOpen' in row;

interface RunFoldsOptions {
  readonly rows: ReadonlySignal<readonly MessageRow[]>;
  readonly session: Pick<LiveSession, 'view' | 'isSynced'>;
  // Whether the user reads one of these rows: then they do not fold yet.
  readonly isInSight: (keys: readonly number[]) => boolean;
}

// Runs with fewer tool calls are not folded.
const MIN_FOLDED_STEPS = 5;

/** Folds the steps of finished runs to one row each. The user's message and the last message of a run stay. */
export class RunFolds {
  readonly #isInSight: (sequence: StepSequence) => boolean;
  /** By the key of the fold. A fold remains one, also if its run seems to continue. */
  readonly #isOpen = new Map<number, boolean>();
  readonly #changes = signal(0);
  readonly #lastFolds = new WeakMap<MessageRow, readonly [FoldRow, MessageRow]>();
  #sequences: readonly StepSequence[] = [];
  /** The rows of the list. */
  readonly rows: ReadonlySignal<readonly ListRow[]>;

  constructor(options: RunFoldsOptions) {
    this.#isInSight = ({ steps }) => options.isInSight(steps.map(({ key }) => key));
    const isRunning = computed(() => options.session.view.value.running || !options.session.isSynced.value);
    this.rows = computed(() => {
      void this.#changes.value;
      return this.#fold(options.rows.value, isRunning.value);
    });
  }

  toggle(key: number): void {
    this.#set(key, this.#isOpen.get(key) !== true);
  }

  /** Opens the fold that hides a row. */
  open(key: number): void {
    const sequence = this.#sequences.find(({ steps }) => steps.some((row) => row.key === key));
    if (sequence) this.#set(-sequence.last.key, true);
  }

  /** Returns the key of the first message of a row. */
  firstMessage(key: number | undefined): number | undefined {
    return this.#sequences.find(({ last }) => -last.key === key)?.steps[0]?.key ?? key;
  }

  #set(key: number, isOpen: boolean): void {
    if (this.#isOpen.get(key) === isOpen) return;
    this.#isOpen.set(key, isOpen);
    this.#changes.value++;
  }

  #fold(rows: readonly MessageRow[], isRunning: boolean): readonly ListRow[] {
    const isKnown = ({ last }: StepSequence) => this.#isOpen.has(-last.key);
    const sequences = stepSequences(rows);
    const current = isRunning ? currentRun(rows, sequences.findLast(isKnown)) : rows.length;
    this.#sequences = sequences.filter(
      (sequence) => isKnown(sequence) || (sequence.end < current && !this.#isInSight(sequence)),
    );
    const shown: ListRow[] = [];
    let at = 0;
    for (const { start, end, steps, last } of this.#sequences) {
      const [fold, first] = this.#foldOf(steps, last);
      shown.push(...rows.slice(at, start), fold);
      if (fold.isOpen) shown.push(first, ...steps.slice(1));
      at = end;
    }
    return at === 0 ? rows : [...shown, ...rows.slice(at)];
  }

  /** Returns the fold, and the first step without the marks that the fold shows. */
  #foldOf(steps: readonly MessageRow[], last: MessageRow): readonly [FoldRow, MessageRow] {
    const key = -last.key;
    const isOpen = this.#isOpen.get(key) === true;
    this.#isOpen.set(key, isOpen);
    const [first = last] = steps;
    const { continues, day, model } = first;
    const summary = isOpen ? undefined : steps.find((row) => row.summary !== undefined)?.summary;
    const fold = { key, continues, day, model, summary, isOpen, run: summarizeRun(steps, last) };
    const before = this.#lastFolds.get(first);
    if (before && isSame(before[0], fold)) return before;
    const folded = [fold, { ...first, continues: true, day: undefined, model: undefined }] as const;
    this.#lastFolds.set(first, folded);
    return folded;
  }
}

/** The steps between a prompt and the last message of a run. */
interface StepSequence {
  readonly start: number;
  /** The index of the last message. */
  readonly end: number;
  readonly steps: readonly MessageRow[];
  readonly last: MessageRow;
}

/** Finds the sequences of steps that are long enough for a fold. */
function stepSequences(rows: readonly MessageRow[]): StepSequence[] {
  const sequences: StepSequence[] = [];
  for (let start = 0; start < rows.length; start++) {
    let end = start;
    while (end < rows.length && isStep(rows[end])) end++;
    // Without an answer, the last step is the last message.
    const last = isAnswer(rows[end]) ? end : end - 1;
    const steps = rows.slice(start, last);
    const lastRow = rows[last];
    if (lastRow && countSteps(steps) >= MIN_FOLDED_STEPS) sequences.push({ start, end: last, steps, last: lastRow });
    start = Math.max(start, end);
  }
  return sequences;
}

/** Returns where the current run starts: behind the last message without a further step, or the last fold. */
function currentRun(rows: readonly MessageRow[], lastFold: StepSequence | undefined): number {
  const prompt = rows.findLastIndex((row, at) => row.message?.role === 'user' && !isStep(rows[at - 1]));
  return Math.max(prompt, lastFold?.end ?? 0);
}

/** A message of the model that the run continued after, or a result whose call is not loaded. */
function isStep(row: MessageRow | undefined): boolean {
  const message = row?.message;
  if (message?.role !== 'assistant') return message?.role === 'toolResult';
  return toolCallIds(message).length > 0 && message.stopReason !== 'aborted' && message.stopReason !== 'error';
}

const isAnswer = (row: MessageRow | undefined) => row?.message?.role === 'assistant';

const countSteps = (rows: readonly MessageRow[]): number =>
  rows.reduce((sum, { message }) => sum + (message?.role === 'assistant' ? toolCallIds(message).length : 1), 0);

const isSame = (one: FoldRow, other: FoldRow) => JSON.stringify(fields(one)) === JSON.stringify(fields(other));

const fields = ({ run, ...marks }: FoldRow) => [marks, run, [...run.failures]];
