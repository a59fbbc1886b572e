import { asNumber, asText } from '../../untyped.ts';
import { Notice } from '../notice.tsx';
import { Command, CommandLine, Output, outputSize } from '../terminal/terminal.tsx';
import { terminalText } from '../terminal/terminal-text.ts';
import { Card } from './card.tsx';
import { detailsOf, outputOf, splitNotice, stateOf, type ToolUse } from './tool-use.ts';

/** A command with the end of its output. */
export function BashCard(use: ToolUse) {
  const command = asText(use.call['command']);
  const timeout = asNumber(use.call['timeout']);
  const isCut = Boolean(detailsOf(use)['truncation']);
  const { text: output, notice } = isCut ? splitNotice(outputOf(use)) : { text: outputOf(use), notice: '' };
  const text = terminalText(output);
  const { size, isShort } = outputSize({ text, isCut });
  return (
    <Card
      use={use}
      about={<CommandLine command={command} note={timeout > 0 ? `at most ${timeout} s` : ''} />}
      outcome={size}
      problem=""
      startsOpen={stateOf(use) === 'running' || isShort}
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
