import { useMemo } from 'preact/hooks';
import { languageOf } from '../../code/language-of.ts';
import { textOf } from '../../fields.ts';
import { lineCount } from '../../words.ts';
import { Diff } from '../diff/diff.tsx';
import { addedLines } from '../diff/diff-lines.ts';
import { Path } from '../found/path.tsx';
import { Card } from './card.tsx';
import { EditCard } from './edit.tsx';
import { detailsOf, stateOf, type ToolUse } from './tool-use.ts';

const LINES = 12;

/** A file that was written: what changed in one that was there, else all of it. */
export const WriteCard = (use: ToolUse) =>
  textOf(detailsOf(use)['diff']) === '' ? <NewFileCard {...use} /> : <EditCard {...use} />;

function NewFileCard(use: ToolUse) {
  const path = textOf(use.call['path']);
  const content = textOf(use.call['content']);
  const state = stateOf(use);
  const lines = useMemo(() => addedLines(content), [content]);
  return (
    <Card
      use={use}
      about={<Path path={path} />}
      outcome={content === '' ? 'empty' : lineCount(content)}
      matters={state !== 'unanswered' && state !== 'stopped'}
    >
      {content !== '' && <Diff lines={lines} language={languageOf(path)} atFirst={LINES} />}
    </Card>
  );
}
