import { HighlightedCode } from '../../code/code-block.tsx';
import { CopyButton } from '../../code/copy-button.tsx';
import { PlainText } from '../../code/plain-text.tsx';
import { countLines, formatCount, oneLine } from '../../format.ts';
import { ScrollablePre, Tail } from '../clipped.tsx';

// Longer output is folded, and shows only so many of its last lines.
const SHORT_LINES = 16;

/** The command in the head of a card, shown while the card is folded. */
export const CommandLine = ({ command, note }: { readonly command: string; readonly note: string }) => (
  <>
    <span class="when-folded">
      <PlainText text={oneLine(command, 200)} />
    </span>
    <span class="when-open">{note}</span>
  </>
);

export const Command = ({ text }: { readonly text: string }) => (
  <div class="command">
    <ScrollablePre>
      <HighlightedCode text={text} language="sh" />
    </ScrollablePre>
    <CopyButton text={() => text} />
  </div>
);

interface OutputProps {
  readonly text: string;
  /** Whether its beginning is missing. */
  readonly isCut: boolean;
}

/** The end of a command's output. */
export const Output = ({ text, isCut }: OutputProps) =>
  text === '' ? null : <Tail text={text} lines={SHORT_LINES} kind="output" all={isCut ? 'the last' : 'all'} />;

/** The size of an output, and whether it is short enough to be shown unfolded. */
export function outputSize({ text, isCut }: OutputProps): { readonly size: string; readonly isShort: boolean } {
  if (text === '') return { size: 'no output', isShort: false };
  const lines = countLines(text);
  return lines <= SHORT_LINES
    ? { size: '', isShort: true }
    : { size: (isCut ? 'the last ' : '') + formatCount(lines, 'line'), isShort: false };
}
