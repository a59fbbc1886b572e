import { PlainText } from '../../code/plain-text.tsx';
import { formatCount } from '../../format.ts';
import { asText } from '../../untyped.ts';
import { ShowAll, useShowAll } from '../clipped.tsx';
import { initialCount } from '../initial-count.ts';
import { Notice } from '../notice.tsx';
import { Path } from '../path.tsx';
import { Card } from './card.tsx';
import { searchSummary } from './grep-output.ts';
import { outputOf, splitNotice, stateOf, type ToolUse } from './tool-use.ts';

const INITIAL_PATHS = 60;
// Longer lists start folded; names are shown in columns.
const SHORT_LIST = { paths: 6, names: 12 };
// Outputs that stand for an empty list.
const EMPTY_OUTPUTS = new Set(['No files found matching pattern', '(empty directory)', '']);

/** The card of `find`. */
export const FindCard = (use: ToolUse) => <PathsCard use={use} about={searchSummary(use.call)} kind="paths" />;

export const LsCard = (use: ToolUse) => <PathsCard use={use} about={asText(use.call['path']) || '.'} kind="names" />;

interface PathsCardProps {
  readonly use: ToolUse;
  readonly about: string;
  readonly kind: keyof typeof SHORT_LIST;
}

function PathsCard({ use, about, kind }: PathsCardProps) {
  const state = stateOf(use);
  const { text, notice } = splitNotice(outputOf(use));
  const paths = EMPTY_OUTPUTS.has(text.trim()) ? [] : text.split('\n').filter((path) => path !== '');
  return (
    <Card
      use={use}
      about={<PlainText text={about} />}
      outcome={paths.length === 0 ? 'nothing' : formatCount(paths.length, 'path')}
      startsOpen={paths.length <= SHORT_LIST[kind]}
    >
      {state === 'done' && paths.length > 0 && <Paths paths={paths} notice={notice} kind={kind} />}
    </Card>
  );
}

interface PathsProps {
  readonly paths: readonly string[];
  readonly notice: string;
  readonly kind: keyof typeof SHORT_LIST;
}

function Paths({ paths, notice, kind }: PathsProps) {
  const [showsAll, showAll] = useShowAll();
  const shown = showsAll ? paths : paths.slice(0, initialCount(paths.length, INITIAL_PATHS));
  return (
    <>
      <ul class={`paths ${kind}`}>
        {shown.map((path) => (
          <li>
            <Path path={path} />
          </li>
        ))}
      </ul>
      {shown.length < paths.length && <ShowAll size={formatCount(paths.length, 'path')} onClick={showAll} />}
      <Notice text={notice} />
    </>
  );
}
