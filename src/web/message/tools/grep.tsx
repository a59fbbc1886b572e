import { PlainText } from '../../code/plain-text.tsx';
import { formatCount } from '../../format.ts';
import { asText, type Untyped } from '../../untyped.ts';
import { Clipped, ShowAll, useShowAll } from '../clipped.tsx';
import { initialCount } from '../initial-count.ts';
import { Notice } from '../notice.tsx';
import { Path } from '../path.tsx';
import { Card } from './card.tsx';
import {
  type GrepFile,
  type GrepLine,
  matchParts,
  parseGrepOutput,
  plainPatterns,
  searchSummary,
} from './grep-output.ts';
import { outputOf, splitNotice, stateOf, type ToolUse } from './tool-use.ts';

const INITIAL_LINES = 40;
const SHORT_LINES = 8;
const NO_MATCHES = 'No matches found';

/** The card of `grep`: matches by file. */
export function GrepCard(use: ToolUse) {
  const state = stateOf(use);
  const { text, notice } = splitNotice(outputOf(use));
  const files = state === 'done' ? parseGrepOutput(text) : undefined;
  const isEmpty = text === NO_MATCHES;
  return (
    <Card
      use={use}
      about={<PlainText text={searchSummary(use.call)} />}
      outcome={files ? sizeOf(files) : isEmpty ? 'no matches' : ''}
      startsOpen={lineCountOf(files ?? []) <= SHORT_LINES}
    >
      {state === 'done' && !files && !isEmpty && <Clipped text={text} lines={INITIAL_LINES} kind="output" />}
      {files && <GrepFiles files={files} call={use.call} notice={notice} />}
    </Card>
  );
}

interface GrepFilesProps {
  readonly files: readonly GrepFile[];
  readonly call: Untyped;
  readonly notice: string;
}

function GrepFiles({ files, call, notice }: GrepFilesProps) {
  const [showsAll, showAll] = useShowAll();
  const count = lineCountOf(files);
  const shown = showsAll ? count : initialCount(count, INITIAL_LINES);
  const texts = plainPatterns(asText(call['pattern']), { isLiteral: call['literal'] === true });
  const show = ({ text, isMatch }: GrepLine) =>
    matchParts(text, isMatch ? texts : [], { ignoresCase: call['ignoreCase'] === true });
  return (
    <>
      <ul class="found">
        {firstLines(files, shown).map(({ path, lines }) => (
          <li>
            <Path path={path} />
            <ol>
              {lines.map((line) => (
                <li class={line.isMatch ? '' : 'context'}>
                  <span class="line-number">{line.number}</span>
                  <code>
                    {show(line).map(({ text, isFound }) => {
                      const part = <PlainText text={text} />;
                      return isFound ? <mark>{part}</mark> : part;
                    })}
                  </code>
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ul>
      {shown < count && <ShowAll size={formatCount(count, 'line')} onClick={showAll} />}
      <Notice text={notice} />
    </>
  );
}

const lineCountOf = (files: readonly GrepFile[]) => files.reduce((sum, { lines }) => sum + lines.length, 0);

function firstLines(files: readonly GrepFile[], lines: number): GrepFile[] {
  let left = lines;
  return files.flatMap((file) => {
    if (left <= 0) return [];
    const some = file.lines.slice(0, left);
    left -= some.length;
    return [{ ...file, lines: some }];
  });
}

function sizeOf(files: readonly GrepFile[]): string {
  const matches = files.flatMap(({ lines }) => lines).filter(({ isMatch }) => isMatch).length;
  const number = `${matches.toLocaleString('en')} ${matches === 1 ? 'match' : 'matches'}`;
  return files.length > 1 ? `${number} in ${formatCount(new Set(files.map(({ path }) => path)).size, 'file')}` : number;
}
