import { numberOf, textOf } from '../../fields.ts';
import { Command, CommandLine, measured, Output } from '../terminal/terminal.tsx';
import { Card } from './card.tsx';
import { saidBy, stateOf, type ToolUse } from './tool-use.ts';

/** A command: while it runs, the end of what it says. */
export function BashCard(use: ToolUse) {
  const command = textOf(use.call['command']);
  const timeout = numberOf(use.call['timeout']);
  const said = saidBy(use);
  const { size, isShort } = measured(said);
  return (
    <Card
      use={use}
      about={<CommandLine command={command} note={timeout > 0 ? `at most ${timeout} s` : ''} />}
      outcome={size}
      problem=""
      matters={stateOf(use) === 'running' || isShort}
    >
      {(command !== '' || said !== '') && (
        <>
          <Command text={command} />
          <Output text={said} />
        </>
      )}
    </Card>
  );
}
