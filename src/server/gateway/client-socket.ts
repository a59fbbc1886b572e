import type { RawData, WebSocket } from 'ws';
import type { ByteSink } from './client-event-queue.ts';
import { shortReason } from './explaining-socket.ts';

/** The size limit of a client message: enough for a prompt with some images. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** The same for a client without the scope `prompt`. */
export const MAX_READER_FRAME_BYTES = 256 * 1024;

/** A message may be fragmented, but not without limit. */
export const MAX_FRAGMENTS = 1024;

// How long a client may take to complete the closing handshake.
const CLOSE_HANDSHAKE_MS = 10_000;

/** The socket of one client as the gateway uses it. */
export interface ClientSocket extends ByteSink {
  onMessage(listener: (bytes: Buffer) => void): void;
  onClose(listener: (code: number) => void): void;
  setReading(reading: boolean): void;
  close(code: number, reason: string): void;
}

const TEXT_FRAME = { binary: false };

/** Wraps a WebSocket. Its errors are ignored: a close event follows. */
export function clientSocket(socket: WebSocket): ClientSocket {
  socket.on('error', () => {});
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (bytes, sent) => socket.send(bytes, TEXT_FRAME, sent),
    onMessage: (listener) => void socket.on('message', (data) => listener(bytesOf(data))),
    onClose: (listener) => void socket.on('close', listener),
    setReading: (reading) => {
      if (reading && socket.isPaused) socket.resume();
      else if (!reading && !socket.isPaused) socket.pause();
    },
    close: (code, reason) => {
      // Without reading, the client's closing frame would never arrive.
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
