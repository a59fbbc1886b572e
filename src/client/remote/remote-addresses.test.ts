import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connected, reached, remoteServer, stopTime, synced } from '../testing/remote-server.node.ts';
import { connectRemote } from './connect-remote.node.ts';
import { OPEN_TIMEOUT_MS } from './reconnecting-socket.ts';
import type { RemoteOptions, RemoteSession } from './remote-session.ts';
import { serverUrls } from './remote-url.ts';

type Server = Awaited<ReturnType<typeof remoteServer>>;

function connect(addresses: string | readonly string[], options: RemoteOptions = {}): RemoteSession {
  const session = connectRemote(addresses, { random: () => 0, whenLost: 'wait', ...options });
  onTestFinished(() => session.close());
  return session;
}

/** Accepts the next connection of a server and gives it a session. */
async function attach(server: Server, session: RemoteSession, fields: object = {}) {
  const connection = await server.connection();
  connection.send(connected(fields), synced());
  await reached(session, 'open');
  await session.ping();
  return connection;
}

/** Two servers and a session that is attached to the first, with a clock that stands still. */
async function attachedToFirst(options: RemoteOptions = {}) {
  stopTime();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const [a, b] = [await remoteServer(), await remoteServer()];
  const session = connect([a.url, b.url], options);
  return { a, b, session, connection: await attach(a, session), clock };
}

/** Advances past the delay of the current retry. */
function endDelay(session: RemoteSession): void {
  vi.advanceTimersByTime(session.status.delayMs ?? 0);
}

it('[W164] after a loss the next address gets the same token, session and cursor, and what was not acknowledged', async () => {
  const { b, session, connection } = await attachedToFirst({ token: 'secret' });
  const prompt = session.prompt({ message: 'hello' });
  const sent = await connection.next();
  connection.cut();
  await reached(session, 'reconnecting');
  endDelay(session);

  const next = await b.connection();
  next.send(connected({ resume: 'gap', epoch: 'e2', seq: 3 }), synced());
  expect(next.authorization).toBe('Bearer secret');
  expect(next.query).toMatchObject({ session: 's1', epoch: 'e1', after: '10' });
  const again = await next.next();
  expect(again).toEqual(sent);
  next.respond(again, { disposition: 'started', runId: 'r1' });
  expect(await prompt).toMatchObject({ runId: 'r1' });
});

it('[W164] at the start each address is tried once before the first delay, and all failures are one round', async () => {
  stopTime();
  const [a, b] = [await remoteServer(), await remoteServer()];
  a.close();
  b.close();
  const session = connect(`${a.url},${b.url}`, { reconnection: { maxRetries: 2 } });
  const seen: unknown[] = [];
  session.onState(({ state, attempt, delayMs }) => seen.push([state, attempt, delayMs]));

  await reached(session, 'reconnecting');
  const second = new Promise((resolve) => session.onState(resolve));
  endDelay(session);
  await second;
  endDelay(session);
  await reached(session, 'lost');

  expect(seen).toEqual([
    ['reconnecting', 1, 1000],
    ['reconnecting', 2, 2000],
    ['lost', undefined, undefined],
  ]);
  expect(session.status.reason).toContain('ECONNREFUSED');
});

it('[W164] a server with a reason counts for more than one that is not there', async () => {
  stopTime();
  const [a, b] = [await remoteServer(), await remoteServer()];
  b.close();
  const session = connect([a.url, b.url]);

  (await a.connection()).close(4409, 'Its folder is on node c, which is away');
  await reached(session, 'reconnecting');

  expect(session.status).toMatchObject({ code: 4409, reason: 'Its folder is on node c, which is away' });
});

it.each([1006, 1011, 1012, 1013, 4409])('[W164] after a close with %i another address is tried', async (code) => {
  const { b, session, connection } = await attachedToFirst();
  if (code === 1006) connection.cut();
  else {
    connection.send({ type: 'server_disconnected', reason: 'close', message: 'Later', code, retryAfterMs: 30_000 });
    connection.close(code);
  }
  await reached(session, 'reconnecting');

  expect(session.status.delayMs).toBe(1000);
  endDelay(session);
  await attach(b, session);
});

it.each([1009, 4408, 4429])('[W164] after a close with %i the same address is tried', async (code) => {
  const { a, session, connection } = await attachedToFirst();
  connection.close(code);
  await reached(session, 'reconnecting');
  endDelay(session);

  await attach(a, session);
});

it.each([1000, 1008, 4400, 4403, 4404])('[W164 V26] a close with %i is final for all addresses', async (code) => {
  const { session, connection } = await attachedToFirst();
  const states: string[] = [];
  session.onState(({ state }) => states.push(state));
  connection.close(code, 'No');
  await reached(session, 'closed');
  session.retry();
  vi.advanceTimersByTime(60_000);

  expect(session.status).toEqual({ state: 'closed', code, reason: 'No' });
  expect(states).toEqual(['closed']);
});

it('[W164] a connection that lasted is replaced by another address almost at once, a short one after the delay', async () => {
  const { a, b, session, connection, clock } = await attachedToFirst({ random: () => 1 });
  clock.mockReturnValue(1000);
  connection.cut();
  await reached(session, 'reconnecting');
  expect(session.status).toMatchObject({ attempt: 1, delayMs: 250 });
  endDelay(session);

  const next = await b.connection();
  next.send(connected({ resume: 'ok' }));
  await reached(session, 'open');
  next.cut();
  await reached(session, 'reconnecting');
  expect(session.status).toMatchObject({ attempt: 1, delayMs: 750 });
  endDelay(session);
  await attach(a, session);
});

it('[W164] servers that announce their return are tried when the first of them is back', async () => {
  stopTime();
  const [a, b] = [await remoteServer(), await remoteServer()];
  const session = connect([a.url, b.url]);
  for (const [server, retryAfterMs] of [
    [a, 9000],
    [b, 5000],
  ] as const) {
    const connection = await server.connection();
    connection.send({ type: 'server_disconnected', reason: 'close', message: 'Later', code: 1012, retryAfterMs });
    connection.close(1012);
  }
  await reached(session, 'reconnecting');

  expect(session.status).toMatchObject({ code: 1012, reason: 'Later', delayMs: 5000 });
});

it('[W164] an address that does not answer at all is left for the next one', async () => {
  stopTime();
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const b = await remoteServer();
  const reachedSilent = once(silent, 'connection');
  const session = connect([`ws://127.0.0.1:${(silent.address() as AddressInfo).port}`, b.url]);
  await reachedSilent;

  vi.advanceTimersByTime(OPEN_TIMEOUT_MS);

  await attach(b, session);
});

it('[W164] retry() begins a round with the address whose turn it is', async () => {
  const { b, session, connection } = await attachedToFirst();
  connection.cut();
  await reached(session, 'reconnecting');

  session.retry();

  await attach(b, session);
});

it.each([
  ['ws://a:1', ['ws://a:1/session']],
  ['ws://a:1?token=t,wss://b/base/session', ['ws://a:1/session?token=t', 'wss://b/base/session?token=t']],
  ['ws://a?token=t, http://b?token=u', ['ws://a/session?token=t', 'ws://b/session?token=u']],
  [
    'ws://a?mine=1,2,ws+unix:/run/a,b.sock:/session',
    ['ws://a/session?mine=1,2', 'ws+unix:/run/a,b.sock:/session?mine=1%2C2'],
  ],
  [
    ['ws://a?mine=1,ws://b', 'ws://c?mine=2'],
    ['ws://a/session?mine=1,ws://b', 'ws://c/session?mine=2'],
  ],
])('the addresses %s are parsed', (addresses, urls) => {
  expect(serverUrls(addresses).map(({ href }) => href)).toEqual(urls);
});

it.each([[[]], ['ws://a,b'], ['ws://a,'], ['ws://a,ftp://b?token=secret'], [['ws://a', 'b']]])(
  'the addresses %s are rejected without repeating them',
  (addresses) => {
    expect(() => serverUrls(addresses)).toThrow(/^The address of a server begins with ws:\/\/ or wss:\/\/$/);
  },
);
