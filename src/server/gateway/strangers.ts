import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { CloseCode } from '../../protocol/close-codes.ts';
import type { ErrorCode } from '../../protocol/errors.ts';
import { answerRaw } from '../http/raw-answer.ts';
import { sayGoodbye } from './accountable-socket.ts';

/** What somebody may send who is about to be sent away. */
const MAX_STRANGER_BYTES = 1024;

/** How many may be on their way out at a time; more are not even let in. */
export const MAX_STRANGERS = 100;

/** How long a connection that was refused may take to notice. */
const FAREWELL_MS = 2000;

/** Why somebody is sent away. */
export interface Reason {
  readonly code: CloseCode;
  readonly reason: string;
  readonly error: ErrorCode;
}

/** Tells those who may not come in why. A browser shows that only of a socket that was opened. */
export class Strangers {
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_STRANGER_BYTES,
    clientTracking: false,
  }).on('wsClientError', refuseUpgrade);
  #count = 0;

  sendAway(request: IncomingMessage, { socket, head, why }: { socket: Duplex; head: Buffer; why: Reason }): void {
    if (this.#count >= MAX_STRANGERS) {
      answerRaw(socket, tooMany);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (stranger) => {
      this.#count++;
      const limit = setTimeout(() => stranger.terminate(), FAREWELL_MS).unref();
      stranger
        .on('error', () => {})
        .once('close', () => {
          this.#count--;
          clearTimeout(limit);
        });
      sayGoodbye(stranger, why);
    });
  }
}

/** Answers what asks for a socket in a way that none is made of. */
export function refuseUpgrade(error: Error, socket: Duplex): void {
  const headers = { 'Sec-WebSocket-Version': '13' };
  answerRaw(socket, { status: 400, code: 'bad_request', error: error.message, headers });
}

const tooMany = {
  status: 503,
  code: 'overloaded',
  error: 'Too many connections are being refused',
  headers: { 'Retry-After': '2' },
};
