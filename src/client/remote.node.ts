import { WebSocket } from 'ws';
import { MAX_ANSWER_BYTES } from '../wire/json-lines.ts';
import { type RemoteOptions, RemoteSession } from './remote-session.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** With the WebSocket of `ws`: Node has one of its own only from version 22 on. */
const openSocket: OpenSocket = (url) => new WebSocket(url, { maxPayload: MAX_ANSWER_BYTES }) as unknown as Socket;

/**
 * A session on a server, new unless the address or the options name one. Not awaited: listen, call, or look at its
 * `status`. When every retry has failed it is closed, unless `whenLost` says otherwise.
 */
export function connectRemote(address: string, options: RemoteOptions = {}): RemoteSession {
  return new RemoteSession(address, { openSocket, whenLost: 'close', ...options });
}
