import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { checkSocketPath, listenOnSocketFile } from '../system/socket-file.ts';
import { MAX_RECORD_BYTES } from './json-lines.ts';
import type { Link } from './link.ts';
import { socketLink } from './socket.node.ts';

/** Accepts connections on a socket file that only its owner may use, and replaces the file of a dead process. */
export async function listenUnix(path: string, onLink: (link: Link) => void): Promise<{ close(): void }> {
  // Reading starts with `onLine`: otherwise the end of a silent client would be lost.
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
