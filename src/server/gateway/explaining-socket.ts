import { WebSocket } from 'ws';
import { closeCodes } from '../../protocol/close-codes.ts';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { shortReason } from './short-reason.ts';

/** What a client did that the socket itself does not bear. Too many pieces would be taken for a wrong token. */
const faults: Readonly<Record<number, { readonly code: number; readonly reason: string }>> = {
  1002: { code: 1002, reason: 'This is no WebSocket frame' },
  1007: { code: 1007, reason: 'A message must be UTF-8' },
  1008: { code: closeCodes.tooBig, reason: 'A message came in too many pieces' },
  1009: { code: closeCodes.tooBig, reason: 'A message was too big' },
};

/** A socket that says why before it closes by itself. */
export class ExplainingSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    const fault = data === undefined && code !== undefined ? faults[code] : undefined;
    if (fault && this.readyState === WebSocket.OPEN) closeWithReason(this, fault);
    else super.close(code, data);
  }
}

/** Says that something is wrong, and that this is the end; then closes. */
export function closeWithReason(
  socket: WebSocket,
  { code, reason, error }: { readonly code: number; readonly reason: string; readonly error?: string },
): void {
  const send = (event: AgentEvent) => socket.send(JSON.stringify(event));
  send({ type: 'server_error', error: reason, ...(error === undefined ? {} : { code: error }) });
  send({ type: 'server_disconnected', reason: 'error', message: reason, code });
  socket.close(code, shortReason(reason));
}
