import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { CommandFailed, ConnectionLost } from '../errors.ts';
import { remoteServer, type Server, stopTime } from '../testing/remote-server.node.ts';
import { RPCClient, WebSocketRPCClient } from './rpc-client.ts';
import type { Socket } from './socket.ts';
import { WebSocketClient, type WebSocketClientConfig, type WebSocketClientEvent } from './web-socket-client.ts';

const openSocket = (url: string) => new WebSocket(url) as unknown as Socket;

function client(server: Server, config: WebSocketClientConfig = {}) {
  const ws = new WebSocketClient(`${server.url}?token=t&session=s`, { openSocket, random: () => 0, ...config });
  const events: WebSocketClientEvent[] = [];
  ws.subscribe((event) => events.push(event));
  onTestFinished(() => ws.disconnect());
  return { ws, rpc: new RPCClient(ws), events, next: (type: string) => nextEvent(ws, type) };
}

// Resolves with the next event of this type.
const nextEvent = (ws: WebSocketClient, type: string) =>
  new Promise<WebSocketClientEvent>((resolve) => {
    const stop = ws.subscribe((event) => {
      if (event.type !== type) return;
      stop();
      resolve(event);
    });
  });

async function connected(config?: WebSocketClientConfig) {
  stopTime();
  const server = await remoteServer();
  const parts = client(server, config);
  const open = parts.next('open');
  parts.ws.connect();
  const connection = await server.connection();
  await open;
  return { ...parts, server, connection };
}

describe('WebSocketClient', () => {
  it('[V20] connects to the unchanged URL, emits open once, and emits every message', async () => {
    const { ws, connection, events, next } = await connected();

    const message = next('message');
    connection.send('{"type":"agent_start"}');
    await message;
    ws.connect();

    expect(connection.query).toEqual({ token: 't', session: 's' });
    expect(ws.isConnected).toBe(true);
    expect(events).toEqual([{ type: 'open' }, { type: 'message', data: '{"type":"agent_start"}' }]);
  });

  it('[V20 V21] reconnects after a lost connection and emits reconnected', async () => {
    const { ws, server, connection, events, next } = await connected();
    const lost = next('reconnecting');
    connection.cut();
    await lost;

    const back = next('reconnected');
    vi.advanceTimersByTime(1000);
    await server.connection();
    await back;

    expect(events).toMatchObject([
      { type: 'open' },
      { type: 'close', code: 1006, willReconnect: true },
      { type: 'reconnecting', attempt: 1, delayMs: 1000 },
      { type: 'reconnected' },
    ]);
    expect(ws.isConnected).toBe(true);
  });

  it('[V26] does not reconnect after a final code until connect() is called', async () => {
    const { ws, server, connection, events, next } = await connected();
    const closed = next('close');
    connection.close(1008, 'Invalid authentication token');
    await closed;
    vi.advanceTimersByTime(3_600_000);
    const seen = [...events];

    const open = next('open');
    ws.connect();
    await server.connection();
    await open;

    expect(seen.slice(1)).toEqual([
      { type: 'close', code: 1008, reason: 'Invalid authentication token', willReconnect: false },
    ]);
  });

  it('[V21] emits an error after the last retry, and reconnects on connect()', async () => {
    const { ws, server, connection, events, next } = await connected({ maxRetries: 0 });
    const error = next('error');
    connection.cut();
    await error;

    const back = next('reconnected');
    ws.connect();
    await server.connection();
    await back;

    expect(events.map(({ type }) => type)).toEqual(['open', 'close', 'error', 'reconnecting', 'reconnected']);
    expect(events[2]).toHaveProperty('error', expect.any(ConnectionLost));
  });

  it('[V20] sends nothing after disconnect()', async () => {
    const { ws, connection } = await connected();

    ws.disconnect();

    expect(await connection.closed).toBe(1000);
    expect(() => ws.send('x')).toThrow('There is no connection to the server');
  });
});

describe('RPCClient', () => {
  it('[V20] resolves with the data of a response, even null, or with the response if it has no data', async () => {
    const { rpc, connection } = await connected();

    const results = [
      rpc.sendCommand({ type: 'get_last_assistant_text' }),
      rpc.sendCommand({ type: 'cycle_model' }),
      rpc.sendCommand({ type: 'abort' }),
    ];
    const [first, second, third] = await connection.take(3);
    const response = { type: 'response', success: true };
    connection.send({ ...response, id: third?.id, command: 'abort' });
    const both = [
      { ...response, id: second?.id, command: 'cycle_model', data: null },
      { ...response, id: first?.id, command: 'get_last_assistant_text', data: { text: 'hi' } },
    ];
    connection.send(`${both.map((one) => JSON.stringify(one)).join('\r\n')}\n`);

    expect(await Promise.all(results)).toEqual([
      { text: 'hi' },
      null,
      { ...response, id: third?.id, command: 'abort' },
    ]);
    expect(new Set([first?.id, second?.id, third?.id]).size).toBe(3);
  });

  it('[V12 V20] has no timeout, and rejects with the error response', async () => {
    const { rpc, connection } = await connected();
    const result = rpc.sendCommand({ type: 'compact' });
    const refused = expect(result).rejects.toBeInstanceOf(CommandFailed);
    const sent = await connection.next();

    vi.advanceTimersByTime(3_600_000);
    connection.reject(sent, 'agent_busy');

    await refused;
  });

  it('[V11 V20] rejects pending commands when the connection is lost, and new ones until there is another', async () => {
    const { rpc, connection } = await connected();
    const result = rpc.sendCommand({ type: 'get_state' });
    const lost = expect(result).rejects.toBeInstanceOf(ConnectionLost);
    await connection.next();

    connection.cut();

    await lost;
    await expect(rpc.sendCommand({ type: 'get_state' })).rejects.toBeInstanceOf(ConnectionLost);
  });

  it('[V20] passes every event to its subscribers, and nothing else', async () => {
    const { rpc, connection, next } = await connected();
    const received: string[] = [];
    const stop = rpc.subscribe(({ type }) => received.push(type));

    const first = next('message');
    connection.send('nonsense\n\n{"type":"agent_start"}\n{"type":"response","success":true}\n{"type":"novelty"}');
    await first;
    stop();
    const second = next('message');
    connection.send({ type: 'agent_end' });
    await second;

    expect(received).toEqual(['agent_start', 'novelty']);
  });
});

it('[V20] WebSocketRPCClient has its own connection', async () => {
  const server = await remoteServer();
  const client = new WebSocketRPCClient(server.url, { openSocket });
  const open = nextEvent(client.connection, 'open');

  client.connect();
  const connection = await server.connection();
  await open;
  const result = client.sendCommand({ type: 'get_last_assistant_text' });
  connection.respond(await connection.next(), { text: null });

  expect(await result).toEqual({ text: null });
  client.disconnect();
  expect(await connection.closed).toBe(1000);
});

it('[V20] a missing WebSocket is explained in the close reason', async () => {
  vi.stubGlobal('WebSocket', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const ws = new WebSocketClient('ws://127.0.0.1:1/session');
  const closed = nextEvent(ws, 'close');

  ws.connect();

  expect(await closed).toMatchObject({
    reason: expect.stringContaining('tau-agent/client/node'),
    willReconnect: false,
  });
});
