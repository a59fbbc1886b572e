import { useMemo } from 'preact/hooks';
import { HighlightedCode } from '../../code/code-block.tsx';
import { PlainText } from '../../code/plain-text.tsx';
import { formatCount } from '../../format.ts';
import { ScrollablePre, ShowAll, useShowAll } from '../clipped.tsx';
import { type DiffLine, GAP } from './diff-lines.ts';
import { initialLines } from './initial-lines.ts';
import { type MarkedLine, markChangedWords } from './word-diff.ts';

interface DiffProps {
  readonly lines: readonly DiffLine[];
  readonly language: string;
  // Number of lines before the user expands the diff.
  readonly initialCount?: number | undefined;
}

/** Shows a diff with the changed words of each line marked. */
export function Diff({ lines, language, initialCount = 60 }: DiffProps) {
  const [showsAll, showAll] = useShowAll('diff');
  const shown = useMemo(() => (showsAll ? lines : initialLines(lines, initialCount)), [lines, showsAll, initialCount]);
  const marked = useMemo(() => markChangedWords(shown), [shown]);
  const isNumbered = marked.some(({ number }) => number !== undefined);
  return (
    <>
      <ScrollablePre kind={isNumbered ? 'diff numbered' : 'diff'}>
        {marked.map((line) => (
          <DiffLineView line={line} language={language} isNumbered={isNumbered} />
        ))}
      </ScrollablePre>
      {shown !== lines && <ShowAll size={sizeText(lines, shown)} onClick={showAll} />}
    </>
  );
}

/** The size of the whole diff: lines, or characters if only these are cut. */
function sizeText(lines: readonly DiffLine[], shown: readonly DiffLine[]): string {
  if (shown.length < lines.length || shown.includes(GAP)) return formatCount(lines.length, 'line');
  const letters = lines.reduce((sum, { text }) => sum + text.length, 0);
  return formatCount(letters, 'character');
}

const signs = { added: '+', removed: '-', same: ' ', gap: ' ' } as const;

interface DiffLineProps {
  readonly line: MarkedLine;
  readonly language: string;
  readonly isNumbered: boolean;
}

function DiffLineView({ line, language, isNumbered }: DiffLineProps) {
  const { kind, number, text, parts } = line;
  if (kind === 'gap')
    return (
      <span class="diff-line gap">
        <PlainText text={text || '⋯'} />
      </span>
    );
  return (
    <span class={`diff-line ${kind}`}>
      {isNumbered && <span class="line-number">{number}</span>}
      <span class="diff-sign">{signs[kind]}</span>
      <span class="diff-text">
        {parts ? (
          <ChangedWords kind={kind} parts={parts} language={language} />
        ) : (
          <HighlightedCode text={text} language={language} />
        )}
      </span>
    </span>
  );
}

type ChangedWordsProps = Pick<DiffLineProps, 'language'> & {
  readonly kind: DiffLine['kind'];
  readonly parts: MarkedLine['parts'] & {};
};

const ChangedWords = ({ kind, parts, language }: ChangedWordsProps) => (
  <>
    {parts.map(({ text, isChanged }) => {
      if (!isChanged) return <HighlightedCode text={text} language={language} />;
      const word = <PlainText text={text} />;
      return kind === 'added' ? <ins>{word}</ins> : <del>{word}</del>;
    })}
  </>
);
