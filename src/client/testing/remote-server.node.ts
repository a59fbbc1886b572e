import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SessionState } from '../../protocol/generated/vocabulary.ts';
import { connectRemote } from '../remote/connect-remote.node.ts';
import type { RemoteOptions, RemoteSession } from '../remote/remote-session.ts';

export type Sent = Record<string, unknown> & { id: string; type: string };

/** A session state with the given fields and otherwise idle. */
export const stateOf = (fields: Partial<SessionState> = {}) =>
  ({ sessionId: 's1', isStreaming: false, isCompacting: false, queuedMessages: [], ...fields }) as SessionState;

export const synced = (fields: Partial<SessionState> = {}, messages: object[] = []) => ({
  type: 'state_synced',
  state: stateOf(fields),
  messages,
});

export const connected = (fields: object = {}) => ({
  type: 'server_connected',
  sessionFile: null,
  sessionId: 's1',
  seq: 10,
  epoch: 'e1',
  pingMs: 20_000,
  ...fields,
});

/** A connection to the test server; the test plays the server. */
export class TestConnection {
  readonly query: Record<string, string>;
  /** The authorization header. */
  readonly authorization: string | undefined;
  readonly sent: Sent[] = [];
  readonly closed: Promise<number>;
  /** Whether pings get their response at once. */
  respondsToPings = true;
  readonly #socket: WebSocket;
  #wake: () => void = () => {};

  constructor(socket: WebSocket, { url = '', headers }: IncomingMessage) {
    this.#socket = socket;
    this.query = Object.fromEntries(new URL(url, 'ws://test').searchParams);
    this.authorization = headers.authorization;
    this.closed = new Promise((resolve) => socket.on('close', (code) => resolve(code)));
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const record: Sent = JSON.parse(String(data));
      if (record.type === 'ping' && this.respondsToPings) this.respond(record);
      else this.sent.push(record);
      this.#wake();
    });
  }

  /** Returns the next command or frame of the client, each once. */
  async next(): Promise<Sent> {
    while (this.sent.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.sent.shift() as Sent;
  }

  async take(count: number): Promise<Sent[]> {
    const taken: Sent[] = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }

  send(...records: (object | string)[]): void {
    for (const record of records) this.#socket.send(typeof record === 'string' ? record : JSON.stringify(record));
  }

  /** Sends a binary message. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(bytes, { binary: true });
  }

  respond({ id, type }: Sent, data?: object): void {
    this.send({ id, type: 'response', command: type, success: true, ...(data ? { data } : {}) });
  }

  reject({ id, type }: Sent, code: string): void {
    this.send({ id, type: 'response', command: type, success: false, error: `No: ${code}`, code });
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason);
  }

  /** Cuts the connection without a close frame. */
  cut(): void {
    this.#socket.terminate();
  }
}

/** A server whose connections are scripted by the test. */
export async function remoteServer() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 64 * 1024 * 1024 });
  await once(server, 'listening');
  const arrived: TestConnection[] = [];
  let wake = () => {};
  server.on('connection', (socket, request) => {
    arrived.push(new TestConnection(socket, request));
    wake();
  });
  const close = () => {
    for (const client of server.clients) client.terminate();
    server.close();
  };
  onTestFinished(close);
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/session`,
    close,
    /** Returns the next connection, each once. */
    connection: async (): Promise<TestConnection> => {
      while (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return arrived.shift() as TestConnection;
    },
  };
}

export type Server = Awaited<ReturnType<typeof remoteServer>>;

/** Stops `setTimeout` until the test advances it; sockets keep working. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Resolves when the session is in this state. */
export async function reached(session: RemoteSession, state: string): Promise<void> {
  if (session.status.state === state) return;
  await new Promise<void>((resolve) => {
    const stop = session.onState((status) => {
      if (status.state !== state) return;
      stop();
      resolve();
    });
  });
}

/** A server and a connecting session, with timers stopped. */
export async function remote(options: RemoteOptions = {}) {
  stopTime();
  const server = await remoteServer();
  const session = connectRemote(server.url, { random: () => 0, whenLost: 'wait', ...options });
  onTestFinished(() => session.close());
  return { server, session };
}

/** A session that is connected and has received its snapshot. */
export async function attached(options: RemoteOptions = {}, ...snapshot: object[]) {
  const { server, session } = await remote(options);
  const connection = await server.connection();
  connection.send(connected(), ...(snapshot.length > 0 ? snapshot : [synced()]));
  await reached(session, 'open');
  await session.ping();
  return { server, session, connection };
}

/** Advances to the next retry and returns its connection. */
export async function reconnection(server: Server, session: RemoteSession): Promise<TestConnection> {
  await reached(session, 'reconnecting');
  vi.advanceTimersByTime(session.status.delayMs ?? 0);
  return server.connection();
}
