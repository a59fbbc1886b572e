import { type CliCommand, commands } from '../commands.ts';
import { flags } from '../flags/flags.ts';
import { forwardedFlags, ownFlags, type ServerSubcommand } from '../flags/server-flags.ts';
import { flagRow, list, page, paragraph, section } from './layout.ts';

/** Every command as a row of a list. */
export const commandRows = () => rowsOf(commands);

/** The help page of one command. */
export function commandPage(name: string, { takes, about, subcommands }: CliCommand): string {
  const usage = section('Usage', list(rowsOf({ [`tau ${name}`]: { takes, about } })));
  return subcommands ? page(usage, section('Subcommands', list(rowsOf(subcommands)))) : page(usage);
}

type CommandRow = { readonly takes?: string | undefined; readonly about: string };

const rowsOf = (words: Readonly<Record<string, CommandRow>>) =>
  Object.entries(words).map(([name, { takes, about }]) => [takes ? `${name} ${takes}` : name, about] as const);

/** The options of a server command. */
export function serverOptions(command: ServerSubcommand): string {
  const own = section('Options', list(ownFlags(command).map((name) => flagRow(name, flags[name]))));
  return page(own, ...(command === 'serve' ? [forwardedSection] : []), paragraph('See also: tau help server'));
}

const forwardedSection = section(
  'Passed on to the agents',
  paragraph(forwardedFlags.map((name) => `--${name}`).join(' ')),
);
