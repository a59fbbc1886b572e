import { Highlighted } from '../../code/code-block.tsx';
import { languageOf } from '../../code/language-of.ts';
import { type Fields, numberOf, textOf } from '../../fields.ts';
import { lineCount } from '../../words.ts';
import { Clipped } from '../clipped.tsx';
import { Notice } from '../found/notice.tsx';
import { Path } from '../found/path.tsx';
import { withNotice } from '../found/result-notice.ts';
import { picturesIn } from '../pictures.tsx';
import { Card } from './card.tsx';
import { saidBy, stateOf, type ToolUse } from './tool-use.ts';

const LINES = 200;

/** A file that was read: its content is there for whoever wants to see it. */
export function ReadCard(use: ToolUse) {
  const path = textOf(use.call['path']);
  const isPicture = picturesIn(use.result?.['content']).length > 0;
  const { text, notice } = withNotice(isPicture || stateOf(use) === 'failed' ? '' : saidBy(use));
  return (
    <Card use={use} about={<Path path={path} after={rangeOf(use.call)} />} outcome={text === '' ? '' : lineCount(text)}>
      {text !== '' && (
        <Clipped text={text} lines={LINES} show={(part) => <Highlighted text={part} language={languageOf(path)} />} />
      )}
      {notice !== '' && <Notice text={notice} />}
    </Card>
  );
}

function rangeOf(call: Fields): string {
  const from = numberOf(call['offset']);
  const limit = numberOf(call['limit']);
  if (from <= 0 && limit <= 0) return '';
  return `:${from || 1}${limit > 0 ? `–${(from || 1) + limit - 1}` : ''}`;
}
