import { useMemo } from 'preact/hooks';
import { fileLanguage } from '../../code/file-language.ts';
import { formatLineCount } from '../../format.ts';
import { asText } from '../../untyped.ts';
import { Diff } from '../diff/diff.tsx';
import { addedLines } from '../diff/diff-lines.ts';
import { Path } from '../path.tsx';
import { Card } from './card.tsx';
import { EditCard } from './edit.tsx';
import { detailsOf, stateOf, type ToolUse } from './tool-use.ts';

const INITIAL_LINES = 12;

/** The card of `write`: the diff of an existing file, or the whole new file. */
export const WriteCard = (use: ToolUse) =>
  asText(detailsOf(use)['diff']) === '' ? <NewFileCard {...use} /> : <EditCard {...use} />;

function NewFileCard(use: ToolUse) {
  const path = asText(use.call['path']);
  const content = asText(use.call['content']);
  const state = stateOf(use);
  const lines = useMemo(() => addedLines(content), [content]);
  return (
    <Card
      use={use}
      about={<Path path={path} />}
      outcome={content === '' ? 'empty' : formatLineCount(content)}
      startsOpen={state !== 'unanswered' && state !== 'stopped'}
    >
      {content !== '' && <Diff lines={lines} language={fileLanguage(path)} initialCount={INITIAL_LINES} />}
    </Card>
  );
}
