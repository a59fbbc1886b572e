import { flags } from '../flags.ts';
import { forwardedFlags, ownFlags, type ServerSubcommand } from '../server-flags.ts';
import { flagRow, list, page, paragraph, section } from './layout.ts';

/** The options of a server command. */
export function serverOptions(command: ServerSubcommand): string {
  const own = section('Options', list(ownFlags(command).map((name) => flagRow(name, flags[name]))));
  return page(own, ...(command === 'serve' ? [forwardedSection] : []), paragraph('tau help server tells the rest.'));
}

const forwardedSection = section(
  'Handed on to the agents it starts',
  paragraph(forwardedFlags.map((name) => `--${name}`).join(' ')),
);
