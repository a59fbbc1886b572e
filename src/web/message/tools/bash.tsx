import { numberOf, textOf } from '../../fields.ts';
import { Notice } from '../found/notice.tsx';
import { withNotice } from '../found/result-notice.ts';
import { Command, CommandLine, measured, Output } from '../terminal/terminal.tsx';
import { terminalText } from '../terminal/terminal-text.ts';
import { Card } from './card.tsx';
import { detailsOf, saidBy, stateOf, type ToolUse } from './tool-use.ts';

/** A command: while it runs, the end of what it says. */
export function BashCard(use: ToolUse) {
  const command = textOf(use.call['command']);
  const timeout = numberOf(use.call['timeout']);
  const isCut = Boolean(detailsOf(use)['truncation']);
  const { text: said, notice } = isCut ? withNotice(saidBy(use)) : { text: saidBy(use), notice: '' };
  const text = terminalText(said);
  const { size, isShort } = measured({ text, isCut });
  return (
    <Card
      use={use}
      about={<CommandLine command={command} note={timeout > 0 ? `at most ${timeout} s` : ''} />}
      outcome={size}
      problem=""
      matters={stateOf(use) === 'running' || isShort}
    >
      {(command !== '' || text !== '') && (
        <>
          <Command text={command} />
          <Output text={text} isCut={isCut} />
          <Notice text={notice} />
        </>
      )}
    </Card>
  );
}
