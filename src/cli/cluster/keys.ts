import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import { newNkey } from '../../server/cluster/connection.ts';
import { warn } from '../../system/terminal-text.ts';
import { UsageError } from '../flags/flags.ts';
import { printAndExit } from '../stdio.ts';

// Who connects to the NATS servers: the operator with `tau cluster init`, and the nodes.
const USERS = ['admin', 'node'] as const;

/** `tau cluster keys`: writes the secret keys of the two NATS users into a folder, and prints the public ones for the servers. */
export async function createKeys(words: readonly string[]): Promise<number> {
  const [folder = '.', ...others] = words;
  if (others.length > 0) throw new UsageError('tau cluster keys takes the folder for admin.nk and node.nk');
  const lines: string[] = [];
  for (const user of USERS) {
    const file = join(resolve(folder), `${user}.nk`);
    const { seed, publicKey } = newNkey();
    try {
      // A key that is in use must not be lost.
      writeFileSync(file, `${seed}\n`, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      warn(
        code === 'EEXIST' ? `${file} exists: remove it for a new key` : `Could not write ${file}: ${messageOf(error)}`,
      );
      return 1;
    }
    lines.push(`TAU_${user.toUpperCase()}_NKEY=${publicKey}\n`);
  }
  return printAndExit(lines.join(''));
}
