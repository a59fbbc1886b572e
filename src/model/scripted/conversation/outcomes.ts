import type { ToolResultMessage } from '../../../protocol/generated/vocabulary.ts';
import { textOf } from '../transcript.ts';
import { clipped, counted } from './wording.ts';

const MOST_LINES = 10;
const LONGEST_LINE = 200;

/** Reports a tool result: its outcome, its first lines and how many more there are. */
export function outcomeOf({ toolName, content, isError }: ToolResultMessage): string {
  const images = content.filter((block) => block.type === 'image').length;
  const output = textOf(content).trimEnd();
  const details = [output === '' ? '' : quote(output), images === 0 ? '' : `It gave ${counted(images, 'image')}.`];
  const status = isError ? `The tool ${toolName} failed` : `The tool ${toolName} is done`;
  const parts = details.filter((part) => part !== '');
  return parts.length === 0 ? `${status}, without output.` : [`${status}.`, ...parts].join('\n\n');
}

function quote(output: string): string {
  const lines = output.split('\n');
  const shown = lines.slice(0, MOST_LINES).map((line) => clipped(line, LONGEST_LINE));
  const fence = fenceFor(shown.join('\n'));
  const block = [fence, ...shown, fence].join('\n');
  const more = lines.length - shown.length;
  return more === 0 ? block : `${block}\n\nAnd ${counted(more, 'more line')}.`;
}

function fenceFor(text: string): string {
  let fence = '```';
  while (text.includes(fence)) fence += '`';
  return fence;
}
