import { describe, expect, it, vi } from 'vitest';
import { attached, connected, reached, reconnection, remote, synced } from '../testing/remote-server.node.ts';
import { ATTACH_TIMEOUT_MS } from './reconnecting-socket.ts';
import { PING_TIMEOUT_MS, PROBE_TIMEOUT_MS } from './watchdog.ts';

describe('a silent connection', () => {
  it('[V33] is dropped after a ping without any data, and reconnected', async () => {
    const { server, session, connection } = await attached();
    connection.respondsToPings = false;

    vi.advanceTimersByTime(20_000);
    const { type } = await connection.next();
    vi.advanceTimersByTime(PING_TIMEOUT_MS);
    const status = session.status;
    const next = await reconnection(server, session);

    expect(type).toBe('ping');
    expect(status).toMatchObject({ state: 'reconnecting', reason: 'The server is silent' });
    expect(next.query).toMatchObject({ after: '10' });
    expect(await connection.closed).toBe(1006);
  });

  it('[V33] stays open while any data arrives', async () => {
    const { session, connection } = await attached();
    connection.respondsToPings = false;

    for (const _ of [1, 2, 3]) {
      vi.advanceTimersByTime(20_000);
      await connection.next();
      vi.advanceTimersByTime(PING_TIMEOUT_MS - 1);
      const event = new Promise((resolve) => session.onEvent(resolve));
      connection.send({ type: 'turn_start' });
      await event;
      expect(session.status.state).toBe('open');
    }
  });

  it('[V33] is not pinged during a session move, which has the full attach timeout', async () => {
    const { session, connection } = await attached();
    const event = new Promise((resolve) => session.onEvent(resolve));
    connection.send(connected({ sessionId: 's2', epoch: 'e2' }));
    await event;

    vi.advanceTimersByTime(ATTACH_TIMEOUT_MS - 1);
    const before = session.status.state;
    vi.advanceTimersByTime(1);

    expect([before, session.status.state]).toEqual(['open', 'reconnecting']);
    expect(connection.sent).toEqual([]);
    expect(session.status.reason).toBe('The server did not answer in time');
  });

  it('[V33] is pinged again after a session move', async () => {
    const { session, connection } = await attached();
    connection.send(connected({ sessionId: 's2', epoch: 'e2' }), synced({ sessionId: 's2' }));
    const event = new Promise<void>((resolve) =>
      session.onEvent(({ type }) => {
        if (type === 'state_synced') resolve();
      }),
    );
    await event;
    await session.ping();
    connection.respondsToPings = false;

    vi.advanceTimersByTime(20_000);
    await connection.next();
    vi.advanceTimersByTime(PING_TIMEOUT_MS);

    expect(session.status).toMatchObject({ state: 'reconnecting', reason: 'The server is silent' });
  });

  it('[V42] is pinged at once by checkConnection(), and dropped after the probe timeout', async () => {
    const { server, session, connection } = await attached();
    connection.respondsToPings = false;

    session.checkConnection();
    const { type } = await connection.next();
    vi.advanceTimersByTime(PROBE_TIMEOUT_MS - 1);
    const before = session.status.state;
    session.checkConnection();
    vi.advanceTimersByTime(1);
    const status = session.status;

    expect([type, before]).toEqual(['ping', 'open']);
    expect(status).toMatchObject({ state: 'reconnecting', reason: 'The server is silent' });
    expect((await reconnection(server, session)).query).toMatchObject({ after: '10' });
    expect(connection.sent).toEqual([]);
  });

  it('[V42] is dropped by checkConnection() also while a ping is pending', async () => {
    const { session, connection } = await attached();
    connection.respondsToPings = false;
    vi.advanceTimersByTime(20_000);
    await connection.next();

    session.checkConnection();
    vi.advanceTimersByTime(PROBE_TIMEOUT_MS);

    expect(session.status.state).toBe('reconnecting');
  });

  it('[V42] stays open when data arrives after checkConnection(), and returns to its ping interval', async () => {
    const { session, connection } = await attached();
    connection.respondsToPings = false;

    for (const _ of [1, 2, 3]) {
      session.checkConnection();
      await connection.next();
      vi.advanceTimersByTime(PROBE_TIMEOUT_MS - 1);
      const event = new Promise((resolve) => session.onEvent(resolve));
      connection.send({ type: 'turn_start' });
      await event;
    }
    vi.advanceTimersByTime(20_000);
    const { type } = await connection.next();
    vi.advanceTimersByTime(PING_TIMEOUT_MS - 1);

    expect([type, session.status.state]).toEqual(['ping', 'open']);
  });

  it('[V42] is not pinged by checkConnection() before it has a session', async () => {
    const { server, session } = await remote();
    session.checkConnection();
    const connection = await server.connection();
    connection.send(connected());
    await new Promise((resolve) => session.onEvent(resolve));

    session.checkConnection();
    vi.advanceTimersByTime(ATTACH_TIMEOUT_MS - 1);

    expect([connection.sent, session.status.state]).toEqual([[], 'connecting']);
  });

  it('[V33] is dropped when it gets no session in time', async () => {
    const { server, session } = await remote();
    const connection = await server.connection();
    connection.send(connected());
    await new Promise((resolve) => session.onEvent(resolve));

    vi.advanceTimersByTime(ATTACH_TIMEOUT_MS);

    expect(session.status).toMatchObject({ state: 'reconnecting', reason: 'The server did not answer in time' });
    expect(await connection.closed).toBe(1006);
  });

  it.each([0, -5, 1e300])('[V33] is pinged within limits, if the server asks for %d ms', async (pingMs) => {
    const { server, session } = await remote();
    const connection = await server.connection();
    connection.send(connected({ pingMs }), synced());
    await reached(session, 'open');
    await session.ping();
    connection.respondsToPings = false;

    vi.advanceTimersByTime(999);
    const early = connection.sent.length;
    vi.advanceTimersByTime(5 * 60_000);

    expect(early).toBe(0);
    expect(await connection.next()).toMatchObject({ type: 'ping' });
  });
});
