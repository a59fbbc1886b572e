import { type CliCommand, commands } from '../commands.ts';
import { list, page, section } from './layout.ts';

/** Every command as a row of a list. */
export const commandRows = () => rowsOf(commands);

/** The help page of one command. */
export function commandPage(name: string, { takes, about, subcommands }: CliCommand): string {
  const usage = section('Usage', list(rowsOf({ [`tau ${name}`]: { takes, about } })));
  return subcommands ? page(usage, section('What may follow', list(rowsOf(subcommands)))) : page(usage);
}

type CommandRow = { readonly takes?: string | undefined; readonly about: string };

const rowsOf = (words: Readonly<Record<string, CommandRow>>) =>
  Object.entries(words).map(([name, { takes, about }]) => [takes ? `${name} ${takes}` : name, about] as const);
