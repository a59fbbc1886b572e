import { describe, expect, it, vi } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { ConnectionLost } from '../errors.ts';
import {
  attached,
  connected,
  reached,
  reconnection,
  remote,
  remoteServer,
  stopTime,
  synced,
} from '../testing/remote-server.node.ts';
import { connectRemote } from './connect-remote.node.ts';
import type { ConnectionStatus } from './reconnecting-socket.ts';
import type { RemoteSession } from './remote-session.ts';

function statusesOf(session: RemoteSession): ConnectionStatus[] {
  const seen: ConnectionStatus[] = [];
  session.onState((status) => seen.push(status));
  return seen;
}

// Resolves with the next status.
const nextStatus = (session: RemoteSession) => new Promise<ConnectionStatus>((resolve) => session.onState(resolve));

describe('a lost connection', () => {
  it('[V21 V22 V32] is retried five times, then only by retry()', async () => {
    const { server, session, connection } = await attached();
    const seen = statusesOf(session);
    server.close();
    connection.cut();

    for (const _ of [1, 2, 3, 4, 5]) {
      await reached(session, 'reconnecting');
      const next = nextStatus(session);
      vi.advanceTimersByTime(session.status.delayMs ?? 0);
      await next;
    }

    expect(seen.map(({ state, attempt, delayMs }) => [state, attempt, delayMs])).toEqual([
      ['reconnecting', 1, 1000],
      ['reconnecting', 2, 2000],
      ['reconnecting', 3, 4000],
      ['reconnecting', 4, 8000],
      ['reconnecting', 5, 16_000],
      ['lost', undefined, undefined],
    ]);
    expect(session.status.reason).toContain('ECONNREFUSED');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[V32] is restored by retry() after the last retry, and sends what waited', async () => {
    const { server, session, connection } = await attached({ reconnection: { maxRetries: 0 } });
    connection.cut();
    await reached(session, 'lost');
    const state = session.getState();

    session.retry();
    session.retry();
    const next = await server.connection();
    next.send(connected({ resume: 'ok' }));
    next.respond(await next.next(), { isIdle: true });

    expect(await state).toEqual({ isIdle: true });
    expect(session.status).toEqual({ state: 'open' });
    next.cut();
    await reached(session, 'lost');
  });

  it('[V32] is retried at once by retry()', async () => {
    const { server, session, connection } = await attached();
    connection.cut();
    await reached(session, 'reconnecting');

    session.retry();

    expect((await server.connection()).query).toMatchObject({ session: 's1' });
  });

  it('[V32] counts its retries from one after a success', async () => {
    const { server, session, connection } = await attached();
    connection.cut();
    (await reconnection(server, session)).cut();
    await nextStatus(session);
    const next = await reconnection(server, session);
    const before = session.status.attempt;
    next.send(connected({ resume: 'ok' }));
    await reached(session, 'open');

    next.cut();
    await reached(session, 'reconnecting');

    expect([before, session.status.attempt]).toEqual([2, 1]);
  });

  it('[V39] closes a session with whenLost close, and rejects its pending calls', async () => {
    stopTime();
    const server = await remoteServer();
    server.close();
    const session = connectRemote(server.url, { reconnection: { maxRetries: 0 } });

    await expect(session.promptAndWait('hello')).rejects.toBeInstanceOf(ConnectionLost);
    await expect(session.getState()).rejects.toThrow('ECONNREFUSED');
    expect(session.status.state).toBe('closed');
  });
});

describe('a server that closes', () => {
  it.each([
    [1008, 'Invalid authentication token'],
    [4400, 'Bad parameters'],
    [4403, 'Permission denied'],
    [4404, 'Session not found'],
    [1000, 'Bye'],
  ])('[V26] with %i is not retried, and its reason is reported: %s', async (code, reason) => {
    const { server, session } = await remote();
    const call = session.getState();
    const event = new Promise<Error>((resolve) => session.onClose(resolve));
    const connection = await server.connection();

    connection.close(code, reason);

    await expect(call).rejects.toThrow(reason);
    expect((await event).message).toBe(reason);
    session.retry();
    vi.advanceTimersByTime(3_600_000);
    expect(session.status).toEqual({ state: 'closed', code, reason });
    await expect(session.getState()).rejects.toThrow(reason);
  });

  it('[V34] is retried after the announced delay, even if the connection is cut before the close', async () => {
    const { session, connection } = await attached();
    const announcement = { type: 'server_disconnected', reason: 'close', message: 'Restarting' };
    const event = new Promise((resolve) => session.onEvent(resolve));

    connection.send({ ...announcement, code: 1012, retryAfterMs: 7000 });
    await event;
    connection.cut();
    await reached(session, 'reconnecting');

    expect(session.status).toMatchObject({ code: 1012, reason: 'Restarting', delayMs: 7000, attempt: 1 });
  });

  it('[V26] with a final announced code is not retried, even if the connection is cut before the close', async () => {
    const { session, connection } = await attached();
    const event = new Promise((resolve) => session.onEvent(resolve));

    connection.send({ type: 'server_disconnected', reason: 'error', message: 'Token revoked', code: 1008 });
    await event;
    connection.cut();
    await reached(session, 'closed');

    expect(session.status).toMatchObject({ code: 1008, reason: 'Token revoked' });
  });

  it('[V34] because the client was too slow is retried at once', async () => {
    const { server, session, connection } = await attached();

    connection.close(4408, 'Too slow');

    expect((await reconnection(server, session)).query).toMatchObject({ epoch: 'e1', after: '10' });
    expect(session.status.delayMs).toBe(0);
  });

  it.each([1001, 1011, 1013, 4409, 4429])('[V26] with %i is retried', async (code) => {
    const { session, connection } = await attached();

    connection.close(code);
    await reached(session, 'reconnecting');

    expect(session.status).toMatchObject({ code, delayMs: 1000 });
  });
});

describe('a malformed server', () => {
  it('[V38] sends malformed messages that are ignored', async () => {
    const { session, connection } = await attached();
    const received: AgentEvent[] = [];
    session.onEvent((event) => received.push(event));
    const state = session.getState();
    const command = await connection.next();

    connection.send('', 'hello', '42', 'null', '[]', '{"type":', { id: 'req_999', type: 'response', success: true });
    connection.sendBytes(new TextEncoder().encode('{"type":"turn_start"}'));
    connection.send({ type: 'from_the_future', seq: 11 });
    connection.respond(command, { isIdle: true });

    expect(await state).toEqual({ isIdle: true });
    expect(received).toEqual([{ type: 'from_the_future', seq: 11 }]);
  });

  it.each([{}, { seq: 'a' }, { epoch: 5 }, { sessionId: null }, { pingMs: undefined }])(
    '[V38] is dropped for a malformed server_connected: %j',
    async (fields) => {
      const { server, session } = await remote();
      const connection = await server.connection();

      connection.send(Object.keys(fields).length > 0 ? connected(fields) : { type: 'server_connected' });
      await reached(session, 'reconnecting');

      expect(session.status.reason).toBe('The server speaks another language');
    },
  );

  it.each([{ state: null }, { messages: 'none' }])('[V38] is dropped for a malformed snapshot: %j', async (fields) => {
    const { server, session } = await remote();
    const connection = await server.connection();

    connection.send(connected(), { ...synced(), ...fields });
    await reached(session, 'reconnecting');

    expect(session.status.reason).toBe('The server speaks another language');
  });

  it('[V38] cannot deliver events before server_connected', async () => {
    const { server, session } = await remote();
    const connection = await server.connection();
    const received: string[] = [];
    session.onEvent(({ type }) => received.push(type));

    connection.send({ type: 'turn_start', seq: 99 }, { type: 'turn_start' }, synced(), connected(), synced());
    await reached(session, 'open');

    expect(received).toEqual(['server_connected', 'state_synced']);
  });

  it('[V38] can send a message over 100 MiB', async () => {
    const { server, session } = await remote();
    const connection = await server.connection();
    const text = 'x'.repeat(101 * 1024 * 1024);
    const length = new Promise<number>((resolve) => {
      session.onEvent((event) => {
        if (event.type === 'state_synced') resolve(JSON.stringify(event.messages).length);
      });
    });

    connection.send(connected(), synced({}, [{ role: 'user', content: text }]));

    expect(await length).toBeGreaterThan(text.length);
  });
});

describe('the address', () => {
  it('[V38] that cannot be opened closes the session, without the token in the reason', async () => {
    const openSocket = (url: string) => {
      throw new Error(`The URL ${url} is invalid`);
    };

    const { session } = await remote({ token: 'secret', openSocket });

    expect(session.status).toMatchObject({ state: 'closed', reason: expect.stringContaining('No connection can be') });
    expect(JSON.stringify(session.status)).not.toContain('secret');
    await expect(session.getState()).rejects.toBeInstanceOf(ConnectionLost);
  });

  it('[V38] that is not a URL is rejected at once', () => {
    expect(() => connectRemote('localhost')).toThrow('The address of a server begins with ws:// or wss://');
  });
});

it('[V26] the last server_error is the reason of a close without one', async () => {
  const { session, connection } = await attached();
  const event = new Promise((resolve) => session.onEvent(resolve));

  connection.send({ type: 'server_error', error: 'The agent failed' });
  await event;
  connection.close(1011);
  await reached(session, 'reconnecting');

  expect(session.status).toMatchObject({ code: 1011, reason: 'The agent failed' });
});
