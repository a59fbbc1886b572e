import { useMemo } from 'preact/hooks';
import { fileLanguage } from '../../code/file-language.ts';
import { asText } from '../../untyped.ts';
import { Diff } from '../diff/diff.tsx';
import { diffOf, sizeOfDiff } from '../diff/diff-lines.ts';
import { Path } from '../path.tsx';
import { Card } from './card.tsx';
import { stateOf, type ToolUse } from './tool-use.ts';

/** The card of an edit. The diff is shown once the edit is made, since the arguments alone may differ from it. */
export function EditCard(use: ToolUse) {
  const { call, result } = use;
  const path = asText(call['path']);
  const state = stateOf(use);
  const isPending = state === 'waiting' || state === 'running';
  const lines = useMemo(() => (isPending ? [] : diffOf(call, result?.['details'])), [call, result, isPending]);
  return (
    <Card
      use={use}
      about={<Path path={path} />}
      outcome={lines.length > 0 ? sizeOfDiff(lines) : ''}
      startsOpen={state === 'done'}
    >
      {lines.some(({ kind }) => kind !== 'gap') && <Diff lines={lines} language={fileLanguage(path)} />}
    </Card>
  );
}
