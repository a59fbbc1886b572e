import type { Socket } from 'node:net';
import { batchedWrite } from '../system/batched-write.ts';
import { type InputLine, LineReader, MAX_LINE_BYTES } from './json-lines.ts';
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
