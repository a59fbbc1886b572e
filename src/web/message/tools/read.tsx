import { HighlightedCode } from '../../code/code-block.tsx';
import { fileLanguage } from '../../code/file-language.ts';
import { formatLineCount } from '../../format.ts';
import { asNumber, asText, type Untyped } from '../../untyped.ts';
import { Clipped } from '../clipped.tsx';
import { Notice } from '../notice.tsx';
import { Path } from '../path.tsx';
import { picturesIn } from '../pictures.tsx';
import { Card } from './card.tsx';
import { outputOf, splitNotice, stateOf, type ToolUse } from './tool-use.ts';

const LINES = 200;

/** The card of `read`; the content starts folded. */
export function ReadCard(use: ToolUse) {
  const path = asText(use.call['path']);
  const isPicture = picturesIn(use.result?.['content']).length > 0;
  const { text, notice } = splitNotice(isPicture || stateOf(use) === 'failed' ? '' : outputOf(use));
  return (
    <Card
      use={use}
      about={<Path path={path} after={rangeOf(use.call)} />}
      outcome={text === '' ? '' : formatLineCount(text)}
    >
      {text !== '' && (
        <Clipped
          text={text}
          lines={LINES}
          show={(part) => <HighlightedCode text={part} language={fileLanguage(path)} />}
        />
      )}
      {notice !== '' && <Notice text={notice} />}
    </Card>
  );
}

function rangeOf(call: Untyped): string {
  const from = asNumber(call['offset']);
  const limit = asNumber(call['limit']);
  if (from <= 0 && limit <= 0) return '';
  return `:${from || 1}${limit > 0 ? `–${(from || 1) + limit - 1}` : ''}`;
}
