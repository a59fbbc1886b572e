import { computed, type ReadonlySignal } from '@preact/signals';
import { asText, contentBlocks } from '../../../untyped.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { type MessageRow, Rows } from './rows.ts';
import { isFold, type ListRow } from './run-folds.ts';

/** Returns the rows of a session. They change per message, not per delta. */
export function sessionRows({ view }: LiveSession): ReadonlySignal<readonly MessageRow[]> {
  const rows = new Rows();
  const messages = computed(() => view.value.messages);
  const unconfirmed = computed(() => view.value.unconfirmed);
  const isWhole = computed(() => view.value.earlier === undefined);
  const answer = computed(() => {
    const { provider, model, timestamp } = view.value.streamingMessage ?? {};
    return JSON.stringify([provider, model, timestamp]);
  });
  return computed(() => {
    void [isWhole.value, answer.value];
    const { streamingMessage: streaming, earlier } = view.peek();
    return rows.of({ messages: [...unconfirmed.value, ...messages.value], streamingMessage: streaming, earlier });
  });
}

const LINE = 24;
const LETTERS_IN_A_LINE = 84;

/** Estimates the height of a row in pixels before it is drawn. */
export function estimateHeight(row: ListRow): number {
  const { continues, day, model, summary } = row;
  const marks = [day, model, summary].filter((mark) => mark !== undefined).length * 2 * LINE;
  if (isFold(row)) return marks + (continues ? 0 : 2 * LINE) + 2 * LINE;
  const { message } = row;
  if (!message) return marks + 3 * LINE;
  if (message.role === 'user') return marks + 4 * LINE + contentBlocks(message.content).reduce(addUp, 0);
  if (message.role !== 'assistant') return marks + 2 * LINE;
  return marks + (continues ? 0 : 2 * LINE) + contentBlocks(message.content).reduce(addUp, 0);
}

const addUp = (sum: number, { type, text }: Readonly<Record<string, unknown>>): number =>
  sum + (type === 'text' ? linesOf(asText(text)) * LINE + LINE / 2 : 2 * LINE);

// Long texts are not split, to save time.
function linesOf(text: string): number {
  if (text.length > 5000) return text.length / (LETTERS_IN_A_LINE / 2);
  return text.split('\n').reduce((lines, line) => lines + Math.ceil((line.length + 1) / LETTERS_IN_A_LINE), 0);
}
