import { PlainText } from '../code/plain-text.tsx';
import { textOf } from '../fields.ts';
import type { ViewProps } from './message.tsx';
import { Command, CommandLine, measured, Output } from './terminal/terminal.tsx';
import { CardFrame } from './tools/card.tsx';

/** A command that the user ran. */
export function ShellCommand({ message }: ViewProps) {
  const command = textOf(message['command']);
  const code = message['exitCode'];
  const state = message['cancelled'] === true ? 'stopped' : typeof code === 'number' && code !== 0 ? 'failed' : 'done';
  const how = state === 'stopped' ? state : typeof code === 'number' ? `exit ${code}` : '';
  const note = message['excludeFromContext'] === true ? 'not told to the model' : '';
  const said = textOf(message['output']);
  const { size } = measured(said);
  const isCut = message['truncated'] === true;
  const whole = textOf(message['fullOutputPath']);
  return (
    <CardFrame
      name="bash"
      about={<CommandLine command={command} note={note} />}
      state={state}
      outcome={[isCut ? `the last ${size}` : size, how].filter(Boolean).join(' · ')}
      matters={state !== 'done' || said !== ''}
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
