import { textOf } from '../fields.ts';
import { Notice } from './found/notice.tsx';
import type { ViewProps } from './message.tsx';
import { Command, CommandLine, measured, Output } from './terminal/terminal.tsx';
import { terminalText } from './terminal/terminal-text.ts';
import { CardFrame } from './tools/card.tsx';

/** A command that the user ran. */
export function ShellCommand({ message }: ViewProps) {
  const command = textOf(message['command']);
  const code = message['exitCode'];
  const how = message['cancelled'] === true ? 'stopped' : typeof code === 'number' ? `exit ${code}` : '';
  const state = how === 'stopped' ? how : how === '' || how === 'exit 0' ? 'done' : 'failed';
  const note = message['excludeFromContext'] === true ? 'not told to the model' : '';
  const said = terminalText(textOf(message['output']));
  const isCut = message['truncated'] === true;
  const { size } = measured({ text: said, isCut });
  const whole = textOf(message['fullOutputPath']);
  return (
    <CardFrame
      name="bash"
      about={<CommandLine command={command} note={note} />}
      state={state}
      outcome={[size, how].filter(Boolean).join(' · ')}
      matters={state !== 'done' || said !== ''}
    >
      <Command text={command} />
      <Output text={said} isCut={isCut} />
      {isCut && <Notice text={`What came before is not here${whole && `; all of it is in ${whole}`}`} />}
    </CardFrame>
  );
}
