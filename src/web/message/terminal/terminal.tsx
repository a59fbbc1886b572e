import { Highlighted } from '../../code/code-block.tsx';
import { CopyButton } from '../../code/copy-button.tsx';
import { PlainText } from '../../code/plain-text.tsx';
import { counted, linesIn, oneLine } from '../../words.ts';
import { Scrolled, Tail } from '../clipped.tsx';
import { terminalText } from './terminal-text.ts';

/** What is no longer than this is worth its room; of more, so much of the end. */
const LINES = 16;

/** A command in the head of a card: while the card is folded it stands for the command itself. */
export const CommandLine = ({ command, note }: { readonly command: string; readonly note: string }) => (
  <>
    <span class="when-folded">
      <PlainText text={oneLine(command, 200)} />
    </span>
    <span class="when-open">{note}</span>
  </>
);

/** A command as it was typed. */
export const Command = ({ text }: { readonly text: string }) => (
  <div class="command">
    <Scrolled>
      <Highlighted text={text} language="sh" />
    </Scrolled>
    <CopyButton text={() => text} />
  </div>
);

interface Said {
  readonly text: string;
  /** Whether it is only the end of what was said. */
  readonly isCut: boolean;
}

/** What a command said; of much, the end. */
export function Output({ text, isCut }: Said) {
  const plain = terminalText(text);
  return plain === '' ? null : <Tail text={plain} lines={LINES} kind="output" all={isCut ? 'the last' : 'all'} />;
}

/** How much a command said, and whether that is little enough to be seen unasked. */
export function measured({ text, isCut }: Said): { readonly size: string; readonly isShort: boolean } {
  const plain = terminalText(text);
  if (plain === '') return { size: 'no output', isShort: false };
  const lines = linesIn(plain);
  return lines <= LINES
    ? { size: '', isShort: true }
    : { size: (isCut ? 'the last ' : '') + counted(lines, 'line'), isShort: false };
}
