import { rmSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { MAX_ANSWER_BYTES } from './json-lines.ts';
import type { Link } from './link.ts';
import { socketLink } from './socket.node.ts';

/** What the system has room for. Node cuts off the rest without a word and would listen somewhere else. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Takes connections on a socket file that only its owner may use. A file that a dead process left behind is replaced. */
export async function listenUnix(path: string, onLink: (link: Link) => void): Promise<{ close(): void }> {
  checkLength(path);
  await removeStale(path);
  // Nothing is read before somebody listens: the end of a client that says nothing would be lost.
  const options = { allowHalfOpen: true, pauseOnConnect: true };
  const server = createServer(options, (socket: Socket) => onLink(socketLink(socket)));
  // The mode has to be right from the first moment: chmod after listen would leave a gap.
  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
  } finally {
    process.umask(mask);
  }
  return {
    close: () => {
      server.close();
      rmSync(path, { force: true });
    },
  };
}

/** Connects to an agent that listens on a socket file. */
export async function connectUnix(path: string): Promise<Link> {
  checkLength(path);
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socketLink(socket, MAX_ANSWER_BYTES));
    });
  });
}

function checkLength(path: string): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`the path is longer than ${MAX_PATH_BYTES} bytes`);
}

async function removeStale(path: string): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  const alive = await new Promise<boolean>((resolve) => {
    const probe = connect({ path });
    probe
      .once('connect', () => resolve(true))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
    probe.once('connect', () => probe.destroy());
  });
  if (!alive) rmSync(path, { force: true });
}
