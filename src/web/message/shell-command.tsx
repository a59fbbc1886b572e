import { asText } from '../untyped.ts';
import type { ViewProps } from './message.tsx';
import { Notice } from './notice.tsx';
import { Command, CommandLine, Output, outputSize } from './terminal/terminal.tsx';
import { terminalText } from './terminal/terminal-text.ts';
import { CardFrame } from './tools/card.tsx';

/** A command that the user ran. */
export function ShellCommandView({ message }: ViewProps) {
  const command = asText(message['command']);
  const code = message['exitCode'];
  const ending = message['cancelled'] === true ? 'stopped' : typeof code === 'number' ? `exit ${code}` : '';
  const state = ending === 'stopped' ? ending : ending === '' || ending === 'exit 0' ? 'done' : 'failed';
  const note = message['excludeFromContext'] === true ? 'not sent to the model' : '';
  const output = terminalText(asText(message['output']));
  const isCut = message['truncated'] === true;
  const { size } = outputSize({ text: output, isCut });
  const outputPath = asText(message['fullOutputPath']);
  return (
    <CardFrame
      name="bash"
      about={<CommandLine command={command} note={note} />}
      state={state}
      outcome={[size, ending].filter(Boolean).join(' · ')}
      startsOpen={state !== 'done' || output !== ''}
    >
      <Command text={command} />
      <Output text={output} isCut={isCut} />
      {isCut && <Notice text={`Earlier output is not shown${outputPath && `; all of it is in ${outputPath}`}`} />}
    </CardFrame>
  );
}
