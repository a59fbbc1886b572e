import { PlainText } from '../../code/plain-text.tsx';
import { textOf } from '../../fields.ts';
import { counted } from '../../words.ts';
import { atFirst } from '../at-first.ts';
import { ShowAll, useWhole } from '../clipped.tsx';
import { searched } from '../found/found-lines.ts';
import { Notice } from '../found/notice.tsx';
import { Path } from '../found/path.tsx';
import { withNotice } from '../found/result-notice.ts';
import { Card } from './card.tsx';
import { saidBy, stateOf, type ToolUse } from './tool-use.ts';

const PATHS = 60;
/** What is no longer than this is worth its room; names stand beside each other. */
const SHORT = { paths: 6, names: 12 };
/** What the tools say instead of an empty list. */
const NOTHING = new Set(['No files found matching pattern', '(empty directory)', '']);

/** Paths that fit a pattern. */
export const FindCard = (use: ToolUse) => <PathsCard use={use} about={searched(use.call)} kind="paths" />;

/** What is in a folder. */
export const LsCard = (use: ToolUse) => <PathsCard use={use} about={textOf(use.call['path']) || '.'} kind="names" />;

interface PathsCardProps {
  readonly use: ToolUse;
  readonly about: string;
  readonly kind: keyof typeof SHORT;
}

function PathsCard({ use, about, kind }: PathsCardProps) {
  const state = stateOf(use);
  const { text, notice } = withNotice(saidBy(use));
  const paths = NOTHING.has(text.trim()) ? [] : text.split('\n').filter((path) => path !== '');
  return (
    <Card
      use={use}
      about={<PlainText text={about} />}
      outcome={paths.length === 0 ? 'nothing' : counted(paths.length, 'path')}
      matters={paths.length <= SHORT[kind]}
    >
      {state === 'done' && paths.length > 0 && <Paths paths={paths} notice={notice} kind={kind} />}
    </Card>
  );
}

interface PathsProps {
  readonly paths: readonly string[];
  readonly notice: string;
  readonly kind: keyof typeof SHORT;
}

function Paths({ paths, notice, kind }: PathsProps) {
  const [isWhole, showAll] = useWhole();
  const shown = isWhole ? paths : paths.slice(0, atFirst(paths.length, PATHS));
  return (
    <>
      <ul class={`paths ${kind}`}>
        {shown.map((path) => (
          <li>
            <Path path={path} />
          </li>
        ))}
      </ul>
      {shown.length < paths.length && <ShowAll what={counted(paths.length, 'path')} onClick={showAll} />}
      <Notice text={notice} />
    </>
  );
}
