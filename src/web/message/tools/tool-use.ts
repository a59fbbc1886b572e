import type { RunningTool } from '../../../client/view.ts';
import { type Fields, numberOf, wordsOf } from '../../fields.ts';
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

export type ToolState = 'waiting' | 'running' | 'unanswered' | 'failed' | 'done';

export function stateOf({ result, progress }: ToolUse): ToolState {
  if (result) return result['isError'] === true ? 'failed' : 'done';
  if (progress === undefined) return 'unanswered';
  return progress === 'waiting' ? 'waiting' : 'running';
}

/** What the tool said at its end, else what it has said so far. */
export function saidBy({ result, progress }: ToolUse): string {
  if (result) return wordsOf(result['content']);
  return progress === undefined || progress === 'waiting' ? '' : wordsOf(progress.progress?.content);
}

/** How it went, in a few words. `well`: what to say when all went well. */
export function outcomeOf(use: ToolUse, well = ''): string {
  const state = stateOf(use);
  if (state === 'unanswered') return 'no result';
  if (state === 'waiting' || state === 'running') return state;
  const time = numberOf(use.result?.['durationMs']);
  const words = state === 'failed' ? (ended(saidBy(use)).how ?? 'failed') : well;
  return [words, time > 0 ? duration(time) : ''].filter(Boolean).join(' · ');
}
