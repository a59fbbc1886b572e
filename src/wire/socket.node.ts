import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { batchedWrite } from '../system/batched-write.ts';
import { checkSocketPath, listenOnSocketFile } from '../system/files/socket-file.ts';
import { type InputLine, LineReader, MAX_LINE_BYTES, MAX_RECORD_BYTES } from './json-lines.ts';
import type { Link } from './link.ts';

// The time in which a peer can read the end of the stream before the socket is destroyed.
const CLOSE_LINGER_MS = 1000;

/** Makes a link of a stream socket. An error of the socket closes the link. */
export function socketLink(socket: Socket, maxLineBytes = MAX_LINE_BYTES): Link {
  const reader = new LineReader(maxLineBytes);
  const write = batchedWrite(socket);
  let closing = false;
  socket.on('error', () => {});
  return {
    write: (text) => !socket.destroyed && write(text),
    onDrain: (listener) => void socket.on('drain', listener),
    flush: () => new Promise((resolve) => (socket.destroyed ? resolve() : void socket.write('', () => resolve()))),
    onLine: (listener) => {
      const deliver = (lines: InputLine[]) => {
        if (!closing) lines.forEach(listener);
      };
      socket.on('data', (chunk: Buffer) => deliver(reader.push(chunk)));
      socket.on('end', () => deliver(reader.end()));
      socket.resume();
    },
    onEnd: (listener) => void socket.on('end', listener),
    onClose: (listener) => void socket.on('close', () => listener()),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => {
      closing = true;
      // A peer that writes to a destroyed socket loses what it has not read yet: its writes are read and dropped.
      socket.resume().end(() => {
        socket.unref();
        setTimeout(() => socket.destroy(), CLOSE_LINGER_MS).unref();
      });
    },
  };
}

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
