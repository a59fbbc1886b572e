import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { securityHeaders } from './security-headers.ts';

export interface RawResponse {
  readonly status: number;
  readonly code: string;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

// How long a client may take to read such a response.
const RAW_READ_MS = 1000;

/** Writes a response to a bare socket and ends it. */
export function respondRaw(socket: Duplex, { status, code, error, headers = {} }: RawResponse): void {
  if (socket.writableEnded) return;
  const body = `${JSON.stringify({ error, code })}\n`;
  const all = {
    ...securityHeaders,
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // Discards further input for a while: destroying the socket with unread input could lose the response.
  socket.resume();
  const limit = setTimeout(() => socket.destroy(), RAW_READ_MS);
  socket.once('close', () => clearTimeout(limit));
}
