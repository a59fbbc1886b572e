import { bash } from './completion/bash.ts';
import { fish } from './completion/fish.ts';
import { zsh } from './completion/zsh.ts';
import { type CliArguments, UsageError } from './flags.ts';
import { printAndExit } from './print-and-exit.ts';

const shells = { bash, zsh, fish } as const;

/** `tau completion <shell>`: prints a completion script. */
export async function completion({ positionals: [, shell = ''] }: CliArguments): Promise<number> {
  if (!Object.hasOwn(shells, shell)) throw new UsageError(`tau completion takes ${Object.keys(shells).join(', ')}`);
  return printAndExit(shells[shell as keyof typeof shells]());
}
