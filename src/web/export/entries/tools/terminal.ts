import { copyButton } from '../../../code/copy-button.ts';
import { highlight } from '../../../code/highlight.ts';
import { element } from '../../../element.ts';
import { clipped } from '../clipped.ts';

const LINES = 16;
const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
/** What programs send to a terminal to colour, move and name things. */
const ESCAPES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|[@-Z\\\\-_])`, 'g');

/** A command as it was typed. */
export const command = (text: string): HTMLElement =>
  element(
    'div',
    { class: 'command' },
    element('pre', { attributes: { tabindex: '0' } }, element('code', {}, ...highlight(text, 'sh'))),
    copyButton(() => text),
  );

/** What a command said; of much, the end. */
export function output(text: string): HTMLElement {
  const plain = text.replaceAll(ESCAPES, '').split('\n').map(lastWritten).join('\n').trimEnd();
  if (plain === '' || plain === '(no output)') return element('p', { class: 'note' }, 'No output');
  return clipped(plain, { keep: 'tail', lines: LINES, class: 'output' });
}

/** What is left of a line that was written over, as progress bars are. */
const lastWritten = (line: string) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '';

const LAST_LINE = /(?:^|\n)Command (exited with code (-?\d+)|timed out after [\d.]+ seconds|aborted)\s*$/;

/** What a command said, and how it ended by the last line that the tool adds. */
export function ended(text: string): { readonly said: string; readonly how: string | undefined } {
  const tail = text.slice(-200);
  const found = LAST_LINE.exec(tail);
  if (!found) return { said: text, how: undefined };
  const [, words = '', code] = found;
  const how = code === undefined ? words.split(' after ')[0] : `exit ${code}`;
  return { said: text.slice(0, text.length - tail.length + found.index), how };
}
