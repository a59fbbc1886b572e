import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { CloseCode, ErrorCode } from '../../protocol/errors.ts';
import { respondRaw } from '../http/responses.ts';
import { closeWithReason } from './explaining-socket.ts';

// Bytes that a rejected client may send.
const MAX_REJECTED_BYTES = 1024;

/** Rejected sockets open at a time; beyond it, upgrades get a plain 503. */
export const MAX_REJECTED_UPGRADES = 100;

// How long a rejected socket may take to close.
const REJECTED_CLOSE_MS = 2000;

/** The close code and text for a rejected client. */
export interface RejectReason {
  readonly code: CloseCode;
  readonly reason: string;
  readonly error: ErrorCode;
}

/** Opens the socket of a rejected client to send it the reason: browsers show none for a failed upgrade. */
export class RejectedUpgrades {
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_REJECTED_BYTES,
    clientTracking: false,
  }).on('wsClientError', rejectMalformedUpgrade);
  #count = 0;

  reject(
    request: IncomingMessage,
    { socket, head, reason }: { socket: Duplex; head: Buffer; reason: RejectReason },
  ): void {
    if (this.#count >= MAX_REJECTED_UPGRADES) {
      respondRaw(socket, tooManyRejected);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (rejected) => {
      this.#count++;
      const limit = setTimeout(() => rejected.terminate(), REJECTED_CLOSE_MS).unref();
      rejected
        .on('error', () => {})
        .once('close', () => {
          this.#count--;
          clearTimeout(limit);
        });
      closeWithReason(rejected, reason);
    });
  }
}

/** Responds to a malformed upgrade request with 400. */
export function rejectMalformedUpgrade(error: Error, socket: Duplex): void {
  const headers = { 'Sec-WebSocket-Version': '13' };
  respondRaw(socket, { status: 400, code: 'bad_request', error: error.message, headers });
}

const tooManyRejected = {
  status: 503,
  code: 'overloaded',
  error: 'Too many connections are being refused',
  headers: { 'Retry-After': '2' },
};
