import { bash } from './completion/bash.ts';
import { fish } from './completion/fish.ts';
import { zsh } from './completion/zsh.ts';
import { type Arguments, UsageError } from './flags.ts';
import { say } from './say.ts';

const shells = { bash, zsh, fish } as const;

/** Prints the script that teaches a shell to complete tau. */
export async function completion({ positionals: [, shell = ''] }: Arguments): Promise<number> {
  if (!Object.hasOwn(shells, shell)) throw new UsageError(`tau completion takes ${Object.keys(shells).join(', ')}`);
  return say(shells[shell as keyof typeof shells]());
}
