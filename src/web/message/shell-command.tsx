import { PlainText } from '../code/plain-text.tsx';
import { textOf } from '../fields.ts';
import type { ViewProps } from './message.tsx';
import { Command, CommandLine, measured, Output } from './terminal/terminal.tsx';
import { CardFrame } from './tools/card.tsx';

/** A command that the user ran. */
export function ShellCommand({ message }: ViewProps) {
  const command = textOf(message['command']);
  const code = message['exitCode'];
  const how = message['cancelled'] === true ? 'stopped' : typeof code === 'number' ? `exit ${code}` : '';
  const isFailed = how !== '' && how !== 'exit 0';
  const note = message['excludeFromContext'] === true ? 'not told to the model' : '';
  const said = textOf(message['output']);
  const { size } = measured(said);
  const isCut = message['truncated'] === true;
  const whole = textOf(message['fullOutputPath']);
  return (
    <CardFrame
      name="bash"
      about={<CommandLine command={command} note={note} />}
      state={isFailed ? 'failed' : 'done'}
      outcome={[isCut ? `the last ${size}` : size, how].filter(Boolean).join(' · ')}
      matters={isFailed || said !== ''}
    >
      <Command text={command} />
      <Output text={said} />
      {isCut && (
        <p class="note">
          What came before is not here{whole !== '' && <PlainText text={`; all of it is in ${whole}`} />}
        </p>
      )}
    </CardFrame>
  );
}
