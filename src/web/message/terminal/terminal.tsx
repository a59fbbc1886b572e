import { Highlighted } from '../../code/code-block.tsx';
import { CopyButton } from '../../code/copy-button.tsx';
import { PlainText } from '../../code/plain-text.tsx';
import { counted, linesIn, oneLine } from '../../words.ts';
import { Scrolled, Tail } from '../clipped.tsx';

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
  /** As a terminal shows it. */
  readonly text: string;
  /** Whether it is only the end of what was said. */
  readonly isCut: boolean;
}

/** What a command said; of much, the end. */
export const Output = ({ text, isCut }: Said) =>
  text === '' ? null : <Tail text={text} lines={LINES} kind="output" all={isCut ? 'the last' : 'all'} />;

/** How much a command said, and whether that is little enough to be seen unasked. */
export function measured({ text, isCut }: Said): { readonly size: string; readonly isShort: boolean } {
  if (text === '') return { size: 'no output', isShort: false };
  const lines = linesIn(text);
  return lines <= LINES
    ? { size: '', isShort: true }
    : { size: (isCut ? 'the last ' : '') + counted(lines, 'line'), isShort: false };
}
