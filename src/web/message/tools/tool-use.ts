import type { RunningTool } from '../../../client/view/view.ts';
import { type Fields, fieldsOf, numberOf, wordsOf } from '../../fields.ts';
import { duration } from '../../words.ts';
import { ended } from '../terminal/terminal-text.ts';

/** A call of a tool, and what came of it. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly call: Fields;
  /** Undefined when nothing came of it, or has not yet. */
  readonly result: Fields | undefined;
  /** How it stands while it is not over. */
  readonly progress?: 'waiting' | RunningTool | undefined;
}

export type ToolState = 'waiting' | 'running' | 'unanswered' | 'stopped' | 'failed' | 'done';

export function stateOf({ result, progress }: Pick<ToolUse, 'result' | 'progress'>): ToolState {
  if (result?.['isError'] === true) return endOf(result).how === 'stopped' ? 'stopped' : 'failed';
  if (result) return 'done';
  if (progress === undefined) return 'unanswered';
  return progress === 'waiting' ? 'waiting' : 'running';
}

/** What the tool said at its end, else what it has said so far. */
export function saidBy({ result, progress }: ToolUse): string {
  if (result) return endOf(result).said;
  return progress === undefined || progress === 'waiting' ? '' : wordsOf(progress.progress?.content);
}

/** What the tool adds to that for programs. */
export const detailsOf = ({ result, progress }: ToolUse): Fields =>
  fieldsOf((result ?? fieldsOf(fieldsOf(progress)['progress']))['details']);

/** How it went, in a few words. `well`: what to say when all went well. */
export function outcomeOf(use: ToolUse, well = ''): string {
  const state = stateOf(use);
  if (state === 'unanswered') return 'no result';
  if (state === 'waiting' || state === 'running') return state;
  const time = numberOf(use.result?.['durationMs']);
  const words = state === 'done' ? well : (endOf(use.result).how ?? state);
  return [words, time > 0 ? duration(time) : ''].filter(Boolean).join(' · ');
}

/** What a result says, and how it ended if not well. */
function endOf(result: Fields = {}): ReturnType<typeof ended> {
  const said = wordsOf(result['content']);
  return result['isError'] === true ? ended(said) : { said, how: undefined };
}
