import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { CloseCode } from '../../protocol/close-codes.ts';
import type { ErrorCode } from '../../protocol/errors.ts';
import { respondRaw } from '../http/raw-response.ts';
import { closeWithReason } from './explaining-socket.ts';

/** What somebody may send who is about to be sent away. */
const MAX_REJECTED_BYTES = 1024;

/** How many may be on their way out at a time; more are not even let in. */
export const MAX_REJECTED_UPGRADES = 100;

/** How long a connection that was refused may take to notice. */
const REJECTED_CLOSE_MS = 2000;

/** Why somebody is sent away. */
export interface RejectReason {
  readonly code: CloseCode;
  readonly reason: string;
  readonly error: ErrorCode;
}

/** Tells those who may not come in why. A browser shows that only of a socket that was opened. */
export class RejectedUpgrades {
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_REJECTED_BYTES,
    clientTracking: false,
  }).on('wsClientError', rejectMalformedUpgrade);
  #count = 0;

  reject(request: IncomingMessage, { socket, head, reason }: { socket: Duplex; head: Buffer; reason: RejectReason }): void {
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

/** Answers what asks for a socket in a way that none is made of. */
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
