import { useMemo } from 'preact/hooks';
import { languageOf } from '../../code/language-of.ts';
import { textOf } from '../../fields.ts';
import { Diff } from '../diff/diff.tsx';
import { diffOf, sizeOfDiff } from '../diff/diff-lines.ts';
import { Path } from '../found/path.tsx';
import { Card } from './card.tsx';
import { stateOf, type ToolUse } from './tool-use.ts';

/** A change of a file. It is shown when it is made: what is only asked for may yet look different. */
export function EditCard(use: ToolUse) {
  const { call, result } = use;
  const path = textOf(call['path']);
  const state = stateOf(use);
  const isPending = state === 'waiting' || state === 'running';
  const lines = useMemo(() => (isPending ? [] : diffOf(call, result?.['details'])), [call, result, isPending]);
  return (
    <Card
      use={use}
      about={<Path path={path} />}
      outcome={lines.length > 0 ? sizeOfDiff(lines) : ''}
      matters={state === 'done'}
    >
      {lines.some(({ kind }) => kind !== 'gap') && <Diff lines={lines} language={languageOf(path)} />}
    </Card>
  );
}
