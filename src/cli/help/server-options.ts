import { flags } from '../flags.ts';
import { agentFlags, ownFlags, type ServerCommand } from '../server-flags.ts';
import { flagRow, list, page, paragraph, section } from './layout.ts';

/** The options of one of the commands that have to do with servers. */
export function serverOptions(command: ServerCommand): string {
  const own = section('Options', list(ownFlags(command).map((name) => flagRow(name, flags[name]))));
  return page(own, ...(command === 'serve' ? [handedOn] : []), paragraph('tau help server tells the rest.'));
}

const handedOn = section(
  'Handed on to the agents it starts',
  paragraph(agentFlags.map((name) => `--${name}`).join(' ')),
);
