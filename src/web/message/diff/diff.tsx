import { useMemo } from 'preact/hooks';
import { Highlighted } from '../../code/code-block.tsx';
import { PlainText } from '../../code/plain-text.tsx';
import { counted } from '../../words.ts';
import { Scrolled, ShowAll, useWhole } from '../clipped.tsx';
import { type DiffLine, GAP } from './diff-lines.ts';
import { type MarkedLine, markedLines } from './marked-lines.ts';
import { shownLines } from './shown-lines.ts';

interface DiffProps {
  readonly lines: readonly DiffLine[];
  readonly language: string;
  /** How many lines are shown until somebody wants them all. */
  readonly atFirst?: number | undefined;
}

/** A change line by line, with the words that came and went. */
export function Diff({ lines, language, atFirst = 60 }: DiffProps) {
  const [isWhole, showAll] = useWhole('diff');
  const shown = useMemo(() => (isWhole ? lines : shownLines(lines, atFirst)), [lines, isWhole, atFirst]);
  const marked = useMemo(() => markedLines(shown), [shown]);
  const isNumbered = marked.some(({ number }) => number !== undefined);
  return (
    <>
      <Scrolled kind={isNumbered ? 'diff numbered' : 'diff'}>
        {marked.map((line) => (
          <Line line={line} language={language} isNumbered={isNumbered} />
        ))}
      </Scrolled>
      {shown !== lines && <ShowAll what={sizeOf(lines, shown)} onClick={showAll} />}
    </>
  );
}

/** How much there is: lines, or letters where these alone are cut. */
function sizeOf(lines: readonly DiffLine[], shown: readonly DiffLine[]): string {
  if (shown.length < lines.length || shown.includes(GAP)) return counted(lines.length, 'line');
  const letters = lines.reduce((sum, { text }) => sum + text.length, 0);
  return counted(letters, 'character');
}

const signs = { added: '+', removed: '-', same: ' ', gap: ' ' } as const;

interface LineProps {
  readonly line: MarkedLine;
  readonly language: string;
  readonly isNumbered: boolean;
}

function Line({ line, language, isNumbered }: LineProps) {
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
          <Words kind={kind} parts={parts} language={language} />
        ) : (
          <Highlighted text={text} language={language} />
        )}
      </span>
    </span>
  );
}

type WordsProps = Pick<LineProps, 'language'> & {
  readonly kind: DiffLine['kind'];
  readonly parts: MarkedLine['parts'] & {};
};

const Words = ({ kind, parts, language }: WordsProps) => (
  <>
    {parts.map(({ text, isChanged }) => {
      if (!isChanged) return <Highlighted text={text} language={language} />;
      const word = <PlainText text={text} />;
      return kind === 'added' ? <ins>{word}</ins> : <del>{word}</del>;
    })}
  </>
);
