import { existsSync, rmSync, type Stats, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';

/** What the system has room for. Node cuts off the rest without a word and would listen somewhere else. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Lets a server listen on a socket file that only its owner may use. A file that a dead process left behind is replaced. */
export async function listenOnSocketFile(server: Server, path: string): Promise<void> {
  checkSocketPath(path);
  // The system says that this is forbidden.
  if (!existsSync(dirname(path))) throw new Error(`there is no folder ${dirname(path)}`);
  await removeStale(path);
  await new Promise<void>((resolve, reject) => {
    // Also later: a connection that cannot be taken is not the end of the others.
    server.on('error', reject);
    // The mode has to be right from the first moment: chmod after listen would leave a gap. The file is made before
    // `listen` returns, so that no other file of this process gets this mode.
    const mask = process.umask(0o177);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(mask);
    }
  });
}

function describeKind(existing: Stats): string {
  if (existing.isDirectory()) return 'a folder';
  return existing.isFile() ? 'a file' : 'something else';
}

/** Throws when a path is too long for a socket file. */
export function checkSocketPath(path: string): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`the path is longer than ${MAX_PATH_BYTES} bytes`);
}

async function removeStale(path: string): Promise<void> {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (!existing) return;
  if (!existing.isSocket()) throw new Error(`there is ${describeKind(existing)} already`);
  const alive = await new Promise<boolean>((resolve) => {
    const probe = connect({ path });
    probe
      .once('connect', () => resolve(true))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
    probe.once('connect', () => probe.destroy());
  });
  if (!alive) rmSync(path, { force: true });
}
