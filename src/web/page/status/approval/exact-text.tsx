import { HighlightedCode } from '../../../code/code-block.tsx';
import { CopyButton } from '../../../code/copy-button.tsx';
import { exactParts } from '../../../code/hidden-characters.ts';
import { visibleNodes } from '../../../code/plain-text.tsx';
import { countLines, formatCount } from '../../../format.ts';
import { ScrollablePre, ShowAll, useShowAll } from '../../../message/clipped.tsx';

// A box shows about this much without scrolling, also on a phone.
const UNSCROLLED = { lines: 8, characters: 320 };

interface ExactCodeProps {
  readonly text: string;
  readonly language: string;
  /** `command` marks the text as one. */
  readonly kind?: string | undefined;
}

/** Code that a user decides about: always all of it, wrapped, with hidden and misleading characters named. */
export function ExactCode({ text, language, kind = '' }: ExactCodeProps) {
  const [showsAll, showAll] = useShowAll();
  const parts = exactParts(text);
  const hidden = parts.filter(({ isHidden }) => isHidden).length;
  const lines = countLines(text);
  const isLong = lines > UNSCROLLED.lines || text.length > UNSCROLLED.characters;
  return (
    <div class={`exact ${kind} ${showsAll ? 'whole' : ''}`}>
      <ScrollablePre>
        {hidden > 0 ? visibleNodes(text, parts) : <HighlightedCode text={text} language={language} />}
      </ScrollablePre>
      <CopyButton text={() => text} />
      {isLong && !showsAll && (
        <ShowAll
          size={lines > 1 ? formatCount(lines, 'line') : formatCount(text.length, 'character')}
          onClick={showAll}
        />
      )}
      {hidden > 0 && <p class="note caution">It contains characters that are usually invisible: they are marked.</p>}
    </div>
  );
}

/** A short text with hidden and misleading characters named. */
export const ExactText = ({ text }: { readonly text: string }) => <>{visibleNodes(text, exactParts(text))}</>;
