import type { RunningTool } from '../../../client/view/view.ts';
import { formatDuration } from '../../format.ts';
import { asNumber, asObject, contentText, type Untyped } from '../../untyped.ts';
import { splitEnding } from '../terminal/terminal-text.ts';

/** A tool call and its result or progress. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly call: Untyped;
  /** Undefined while there is no result, or if there will be none. */
  readonly result: Untyped | undefined;
  /** Set until the call has finished. */
  readonly progress?: CallProgress | undefined;
}

/** A call that waits for its turn, or for an answer of the user, or the output of a running one. */
export type CallProgress = 'waiting' | 'asking' | RunningTool;

export type ToolState = 'waiting' | 'running' | 'unanswered' | 'stopped' | 'failed' | 'done';

export function stateOf({ result, progress }: Pick<ToolUse, 'result' | 'progress'>): ToolState {
  if (result?.['isError'] === true) return endingOf(result).ending === 'stopped' ? 'stopped' : 'failed';
  if (result) return 'done';
  if (progress === undefined) return 'unanswered';
  return progress === 'waiting' ? progress : 'running';
}

/** The output of the tool: the final one, else the progress so far. */
export function outputOf({ result, progress }: ToolUse): string {
  if (result) return endingOf(result).output;
  return typeof progress === 'object' ? contentText(progress.progress?.content) : '';
}

export const detailsOf = ({ result, progress }: Pick<ToolUse, 'result' | 'progress'>): Untyped =>
  asObject((result ?? asObject(asObject(progress)['progress']))['details']);

/** The outcome in a few words. `success`: the text after a success. */
export function outcomeOf(use: ToolUse, success = ''): string {
  const state = stateOf(use);
  if (state === 'unanswered') return 'no result';
  if (use.progress === 'asking') return 'waiting for you';
  if (state === 'waiting' || state === 'running') return state;
  const time = asNumber(use.result?.['durationMs']);
  const words = state === 'done' ? success : (failureOf(use) ?? endingOf(use.result).ending ?? state);
  return [words, time > 0 ? formatDuration(time) : ''].filter(Boolean).join(' · ');
}

/** Why a call failed, if its details state that. */
export const failureOf = (use: Pick<ToolUse, 'result'>): string | undefined =>
  ['denied', 'interrupted'].find((reason) => detailsOf(use)[reason] === true);

function endingOf(result: Untyped = {}): ReturnType<typeof splitEnding> {
  const output = contentText(result['content']);
  return result['isError'] === true ? splitEnding(output) : { output, ending: undefined };
}

const NOTICE = /(?:^|\n\n)\[([^\n]{1,600})\]$/;

/** Splits the bracketed note about omitted output off a tool's output. */
export function splitNotice(output: string): { readonly text: string; readonly notice: string } {
  const found = NOTICE.exec(output.slice(-800));
  if (!found) return { text: output, notice: '' };
  return { text: output.slice(0, output.length - found[0].length), notice: found[1] ?? '' };
}
