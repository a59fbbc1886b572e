import { WebSocket } from 'ws';
import { closeCodes } from '../../protocol/errors.ts';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';

// Reasons for closings by the WebSocket library. Its code for too many fragments would mean an invalid token to
// clients.
const faults: Readonly<Record<number, { readonly code: number; readonly reason: string }>> = {
  1002: { code: 1002, reason: 'This is no WebSocket frame' },
  1007: { code: 1007, reason: 'A message must be UTF-8' },
  1008: { code: closeCodes.tooBig, reason: 'A message has too many fragments' },
  1009: { code: closeCodes.tooBig, reason: 'A message was too big' },
};

/** A socket that sends the reason before the library closes it. */
export class ExplainingSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    const fault = data === undefined && code !== undefined ? faults[code] : undefined;
    if (fault && this.readyState === WebSocket.OPEN) closeWithReason(this, fault);
    else super.close(code, data);
  }
}

/** Sends an error and a closing message, then closes. */
export function closeWithReason(
  socket: WebSocket,
  { code, reason, error }: { readonly code: number; readonly reason: string; readonly error?: string },
): void {
  const send = (event: AgentEvent) => socket.send(JSON.stringify(event));
  send({ type: 'server_error', error: reason, ...(error === undefined ? {} : { code: error }) });
  send({ type: 'server_disconnected', reason: 'error', message: reason, code });
  socket.close(code, shortReason(reason));
}

// The limit of the WebSocket protocol.
const MAX_REASON_BYTES = 123;

/** Truncates a reason to the size of a close frame, at a character boundary. */
export function shortReason(reason: string): string {
  if (Buffer.byteLength(reason) <= MAX_REASON_BYTES) return reason;
  return Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES - 1)
    .toString()
    .replace(/\uFFFD+$/u, '');
}
