import { PlainText } from '../../code/plain-text.tsx';
import { countLines, formatCount, oneLine } from '../../format.ts';
import { asText } from '../../untyped.ts';
import { Clipped } from '../clipped.tsx';
import { Folded } from '../folded.tsx';
import { JsonView } from '../unknown-content.tsx';
import { Card } from './card.tsx';
import { detailsOf, outputOf, stateOf, type ToolUse } from './tool-use.ts';

const SHORT_LINES = 12;

/** The card of an unknown tool: its arguments, output and details. */
export function GenericCard(use: ToolUse) {
  const text = outputOf(use);
  const details = detailsOf(use);
  const [first] = Object.values(use.call).filter((value) => typeof value === 'string');
  const hasArguments = Object.keys(use.call).length > 0;
  const hasDetails = Object.keys(details).length > 0;
  const lines = countLines(text);
  const isLong = lines > SHORT_LINES;
  return (
    <Card
      use={use}
      about={<PlainText text={oneLine(asText(first), 120)} />}
      outcome={isLong ? formatCount(lines, 'line') : ''}
      startsOpen={stateOf(use) === 'running' || (text !== '' && !isLong)}
    >
      {(hasArguments || hasDetails || text !== '') && (
        <>
          {hasArguments && (
            <Folded kind="part" name="arguments" head="Arguments">
              <JsonView value={use.call} />
            </Folded>
          )}
          {stateOf(use) !== 'failed' && text !== '' && <Clipped text={text} lines={SHORT_LINES} kind="output" />}
          {hasDetails && (
            <Folded kind="part" name="details" head="Details">
              <JsonView value={details} />
            </Folded>
          )}
        </>
      )}
    </Card>
  );
}
