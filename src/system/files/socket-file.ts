import { existsSync, rmSync, type Stats, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';

// The limit of the system. Node silently truncates a longer path and would listen elsewhere.
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Listens on a socket file that only its owner may use, and replaces the file of a dead process. */
export async function listenOnSocketFile(server: Server, path: string): Promise<void> {
  checkSocketPath(path);
  // The system would report a missing permission.
  if (!existsSync(dirname(path))) throw new Error(`there is no folder ${dirname(path)}`);
  await removeStale(path);
  await new Promise<void>((resolve, reject) => {
    // The handler stays: a failed accept must not end the other connections.
    server.on('error', reject);
    // The mode must be right from the start: chmod after listen would leave a gap. `listen` creates the file before it
    // returns, so that no other file of this process gets this mode.
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
