import type { RawData, WebSocket } from 'ws';
import type { ByteSink } from './client-event-queue.ts';
import { shortReason } from './short-reason.ts';

/** One message of a client: room for a prompt with some pictures. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** Messages may come in pieces, but not in any number of them. */
export const MAX_FRAGMENTS = 1024;

/** How long a client may take to say goodbye. */
const CLOSE_HANDSHAKE_MS = 10_000;

/** One socket, as the rest of the gateway sees it. */
export interface ClientSocket extends ByteSink {
  onMessage(listener: (bytes: Buffer) => void): void;
  onClose(listener: (code: number) => void): void;
  /** Stops or goes on taking messages. */
  setReading(reading: boolean): void;
  close(code: number, reason: string): void;
}

/** A WebSocket as a wire. Its errors are closings: there is nobody left to tell. */
export function clientSocket(socket: WebSocket): ClientSocket {
  socket.on('error', () => {});
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (bytes, sent) => socket.send(bytes, { binary: false }, () => sent?.()),
    onMessage: (listener) => void socket.on('message', (data) => listener(bytesOf(data))),
    onClose: (listener) => void socket.on('close', listener),
    setReading: (reading) => {
      if (reading && socket.isPaused) socket.resume();
      else if (!reading && !socket.isPaused) socket.pause();
    },
    close: (code, reason) => {
      // What it still sends has to be read, or its own goodbye is never seen.
      socket.resume();
      socket.close(code, shortReason(reason));
      setTimeout(() => socket.terminate(), CLOSE_HANDSHAKE_MS).unref();
    },
  };
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
