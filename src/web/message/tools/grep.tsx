import { PlainText } from '../../code/plain-text.tsx';
import { type Fields, textOf } from '../../fields.ts';
import { counted } from '../../words.ts';
import { atFirst } from '../at-first.ts';
import { Clipped, ShowAll, useWhole } from '../clipped.tsx';
import {
  type FoundFile,
  type FoundLine,
  foundIn,
  plainPatterns,
  searched,
  searchedParts,
} from '../found/found-lines.ts';
import { Notice } from '../found/notice.tsx';
import { Path } from '../found/path.tsx';
import { withNotice } from '../found/result-notice.ts';
import { Card } from './card.tsx';
import { saidBy, stateOf, type ToolUse } from './tool-use.ts';

const LINES = 40;
const SHORT = 8;
const NOTHING = 'No matches found';

/** A search: what was found, file by file. */
export function GrepCard(use: ToolUse) {
  const state = stateOf(use);
  const { text, notice } = withNotice(saidBy(use));
  const files = state === 'done' ? foundIn(text) : undefined;
  const isNothing = text === NOTHING;
  return (
    <Card
      use={use}
      about={<PlainText text={searched(use.call)} />}
      outcome={files ? sizeOf(files) : isNothing ? 'no matches' : ''}
      matters={countIn(files ?? []) <= SHORT}
    >
      {state === 'done' && !files && !isNothing && <Clipped text={text} lines={LINES} kind="output" />}
      {files && <Files files={files} call={use.call} notice={notice} />}
    </Card>
  );
}

interface FilesProps {
  readonly files: readonly FoundFile[];
  readonly call: Fields;
  readonly notice: string;
}

function Files({ files, call, notice }: FilesProps) {
  const [isWhole, showAll] = useWhole();
  const count = countIn(files);
  const shown = isWhole ? count : atFirst(count, LINES);
  const texts = plainPatterns(textOf(call['pattern']), { isLiteral: call['literal'] === true });
  const show = ({ text, isMatch }: FoundLine) =>
    searchedParts(text, isMatch ? texts : [], { ignoresCase: call['ignoreCase'] === true });
  return (
    <>
      <ul class="found">
        {firstOf(files, shown).map(({ path, lines }) => (
          <li>
            <Path path={path} />
            <ol>
              {lines.map((line) => (
                <li class={line.isMatch ? '' : 'beside'}>
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
      {shown < count && <ShowAll what={counted(count, 'line')} onClick={showAll} />}
      <Notice text={notice} />
    </>
  );
}

const countIn = (files: readonly FoundFile[]) => files.reduce((sum, { lines }) => sum + lines.length, 0);

/** As many lines of the first files. */
function firstOf(files: readonly FoundFile[], lines: number): FoundFile[] {
  let left = lines;
  return files.flatMap((file) => {
    if (left <= 0) return [];
    const some = file.lines.slice(0, left);
    left -= some.length;
    return [{ ...file, lines: some }];
  });
}

function sizeOf(files: readonly FoundFile[]): string {
  const matches = files.flatMap(({ lines }) => lines).filter(({ isMatch }) => isMatch).length;
  const number = `${matches.toLocaleString('en')} ${matches === 1 ? 'match' : 'matches'}`;
  return files.length > 1 ? `${number} in ${counted(new Set(files.map(({ path }) => path)).size, 'file')}` : number;
}
