import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { checkSocketPath, listenOnSocketFile } from '../system/socket-file.ts';
import { MAX_RECORD_BYTES } from './json-lines.ts';
import type { Link } from './link.ts';
import { socketLink } from './socket.node.ts';

/** Takes connections on a socket file that only its owner may use. A file that a dead process left behind is replaced. */
export async function listenUnix(path: string, onLink: (link: Link) => void): Promise<{ close(): void }> {
  // Nothing is read before somebody listens: the end of a client that says nothing would be lost.
  const options = { allowHalfOpen: true, pauseOnConnect: true };
  const server = createServer(options, (socket: Socket) => onLink(socketLink(socket)));
  await listenOnSocketFile(server, path);
  return {
    close: () => {
      server.close();
      rmSync(path, { force: true });
    },
  };
}

/** Connects to an agent that listens on a socket file. */
export async function connectUnix(path: string): Promise<Link> {
  checkSocketPath(path);
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socketLink(socket, MAX_RECORD_BYTES));
    });
  });
}
