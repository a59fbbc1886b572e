import { connect } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import { MAX_RECORD_BYTES } from '../../wire/json-lines.ts';
import { type RemoteOptions, RemoteSession } from './remote-session.ts';
import type { ServerAddresses } from './remote-url.ts';
import type { OpenSocket, Socket } from './socket.ts';

/**
 * Opens a session on a server from Node, a new one by default, and returns before it is connected. Several addresses
 * lead to one cluster; they are tried in turn.
 */
export function connectRemote(address: ServerAddresses, options: RemoteOptions = {}): RemoteSession {
  const { token, ...others } = options;
  // Proxies log addresses, but not this header.
  if (token === undefined || options.openSocket || !/^[\x21-\x7e]+$/.test(token)) {
    return new RemoteSession(address, { openSocket: socketOpener({}), whenLost: 'close', ...options });
  }
  const openSocket = socketOpener({ Authorization: `Bearer ${token}` });
  return new RemoteSession(address, { whenLost: 'close', ...others, openSocket });
}

/** Uses `ws`: Node has a WebSocket of its own only from version 22 on. */
const socketOpener =
  (headers: Readonly<Record<string, string>>): OpenSocket =>
  (url) =>
    open(new URL(url), { maxPayload: MAX_RECORD_BYTES, headers }) as unknown as Socket;

/** `ws` accepts no socket path with a space or a colon. */
function open(url: URL, options: ClientOptions): WebSocket {
  if (url.protocol !== 'ws+unix:') return new WebSocket(url, options);
  const [file = '', path = ''] = url.pathname.split(':');
  const createConnection = () => connect({ path: decodeURIComponent(file) });
  return new WebSocket(`ws://localhost${path}${url.search}`, { ...options, createConnection });
}
