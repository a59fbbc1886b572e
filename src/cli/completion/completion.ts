import { type CliArguments, UsageError } from '../flags/flags.ts';
import { printAndExit } from '../stdio.ts';
import { bash } from './bash.ts';
import { fish } from './fish.ts';
import { zsh } from './zsh.ts';

const shells = { bash, zsh, fish } as const;

/** `tau completion <shell>`: prints a completion script. */
export async function completion({ positionals: [, shell = ''] }: CliArguments): Promise<number> {
  if (!Object.hasOwn(shells, shell)) throw new UsageError(`tau completion takes ${Object.keys(shells).join(', ')}`);
  return printAndExit(shells[shell as keyof typeof shells]());
}
