import { blocksOf, textOf } from '../../../fields.ts';
import type { MessageRow } from './rows.ts';

const LINE = 24;
const LETTERS_IN_A_LINE = 84;

/** Estimates the height of a row in pixels before it is drawn. */
export function estimateHeight({ message, continues, day, model, summary }: MessageRow): number {
  const marks = [day, model, summary].filter((mark) => mark !== undefined).length * 2 * LINE;
  if (!message) return marks + 3 * LINE;
  if (message.role === 'user') return marks + 4 * LINE + blocksOf(message.content).reduce(addUp, 0);
  if (message.role !== 'assistant') return marks + 2 * LINE;
  return marks + (continues ? 0 : 2 * LINE) + blocksOf(message.content).reduce(addUp, 0);
}

const addUp = (sum: number, { type, text }: Readonly<Record<string, unknown>>): number =>
  sum + (type === 'text' ? linesOf(textOf(text)) * LINE + LINE / 2 : 2 * LINE);

// Long texts are not split, to save time.
function linesOf(text: string): number {
  if (text.length > 5000) return text.length / (LETTERS_IN_A_LINE / 2);
  return text.split('\n').reduce((lines, line) => lines + Math.ceil((line.length + 1) / LETTERS_IN_A_LINE), 0);
}
