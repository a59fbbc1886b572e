import { PlainText } from '../../code/plain-text.tsx';
import { textOf } from '../../fields.ts';
import { counted, linesIn, oneLine } from '../../words.ts';
import { Clipped } from '../clipped.tsx';
import { Folded } from '../folded.tsx';
import { Json } from '../unknown.tsx';
import { Card } from './card.tsx';
import { detailsOf, saidBy, stateOf, type ToolUse } from './tool-use.ts';

const LINES = 12;

/** A tool of which nothing is known but what it was given and what it said. */
export function GenericCard(use: ToolUse) {
  const text = saidBy(use);
  const details = detailsOf(use);
  const [first] = Object.values(use.call).filter((value) => typeof value === 'string');
  const hasArguments = Object.keys(use.call).length > 0;
  const hasDetails = Object.keys(details).length > 0;
  const lines = linesIn(text);
  const isLong = lines > LINES;
  return (
    <Card
      use={use}
      about={<PlainText text={oneLine(textOf(first), 120)} />}
      outcome={isLong ? counted(lines, 'line') : ''}
      matters={stateOf(use) === 'running' || (text !== '' && !isLong)}
    >
      {(hasArguments || hasDetails || text !== '') && (
        <>
          {hasArguments && (
            <Folded kind="part" name="arguments" head="Arguments">
              <Json value={use.call} />
            </Folded>
          )}
          {stateOf(use) !== 'failed' && text !== '' && <Clipped text={text} lines={LINES} kind="output" />}
          {hasDetails && (
            <Folded kind="part" name="details" head="Details">
              <Json value={details} />
            </Folded>
          )}
        </>
      )}
    </Card>
  );
}
