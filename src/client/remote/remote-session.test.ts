import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { attached, connected, reached, reconnection, remote, synced } from '../testing/remote-server.node.ts';
import type { RemoteSession } from './remote-session.ts';

const UUID = /^[0-9a-f-]{36}$/;
const turn = (seq?: number) => ({ type: 'turn_start', ...(seq === undefined ? {} : { seq }) });
const moveTo = { sessionId: 's2', epoch: 'e2', seq: 3 };

// The types and numbers of delivered events.
function seenBy(session: RemoteSession): string[] {
  const seen: string[] = [];
  session.onEvent(({ type, seq }: AgentEvent) => seen.push(seq === undefined ? type : `${type} ${seq}`));
  return seen;
}

// Resolves with the next event, or the next of a type.
const nextEvent = (session: RemoteSession, kind?: string) =>
  new Promise<void>((resolve) => {
    session.onEvent(({ type }) => (kind ?? type) === type && resolve());
  });

describe('a new session', () => {
  it('[V29] gets its id from the client, and keeps it over retries', async () => {
    const { server, session } = await remote({ token: 't', cwd: '/there', ui: ['select'], tail: 3, entries: true });

    const first = await server.connection();
    first.cut();
    const second = await reconnection(server, session);

    expect(first.query).toEqual({
      cwd: '/there',
      new: expect.stringMatching(UUID),
      ui: 'select',
      tail: '3',
      entries: '1',
      stream: 'delta',
      legacyNames: '0',
    });
    expect(second.query).toEqual(first.query);
    expect([first.authorization, second.authorization]).toEqual(['Bearer t', 'Bearer t']);
  });

  it('has its token in the address if no header can hold it', async () => {
    const { server } = await remote({ token: 'wörd' });

    const { query, authorization } = await server.connection();

    expect([query['token'], authorization]).toEqual(['wörd', undefined]);
  });

  it('[V29] is reopened by the id that the server gave it', async () => {
    const { server, session, connection } = await attached({ cwd: '/there' });

    connection.cut();
    const next = await reconnection(server, session);

    expect(session.sessionId).toBe('s1');
    expect(next.query).toMatchObject({ session: 's1' });
    expect(next.query).not.toHaveProperty('new');
    expect(next.query).not.toHaveProperty('cwd');
  });

  it('[V29] is reopened by its client-made id until it has a message, because the server may have dropped it', async () => {
    const { server, session } = await remote({ cwd: '/there' });
    const first = await server.connection();
    const { new: name = '' } = first.query;
    const there = connected({ sessionId: name });

    const before = nextEvent(session, 'state_synced');
    first.send(there, synced({ sessionId: name }));
    await before;
    first.cut();
    const second = await reconnection(server, session);
    const stored = nextEvent(session, 'message_end');
    second.send(there, synced({ sessionId: name }), { type: 'message_end', seq: 11, message: { role: 'user' } });
    await stored;
    second.cut();
    const third = await reconnection(server, session);

    expect(second.query).toMatchObject({ new: name, cwd: '/there' });
    expect(third.query).toMatchObject({ session: name });
    expect(third.query).not.toHaveProperty('new');
  });

  it('[V29] is not created if the options or the address name a session', async () => {
    const { server } = await remote({ session: 'mine' });

    expect((await server.connection()).query).not.toHaveProperty('new');
  });
});

describe('resuming', () => {
  it('[V28] continues after the last delivered event, without repeats', async () => {
    const { server, session, connection } = await attached();
    const seen = seenBy(session);
    connection.send(turn(11), turn(12));
    await session.ping();

    connection.cut();
    const next = await reconnection(server, session);
    next.send(connected({ seq: 14, resume: 'ok' }), turn(11), turn(12), turn(13), turn(13), turn(14));
    await reached(session, 'open');
    await session.ping();

    expect(next.query).toMatchObject({ session: 's1', epoch: 'e1', after: '12' });
    expect(seen).toEqual(['turn_start 11', 'turn_start 12', 'server_connected 14', 'turn_start 13', 'turn_start 14']);
  });

  it('[V28] starts from the snapshot if no event followed it', async () => {
    const { server, session, connection } = await attached();

    connection.cut();

    expect((await reconnection(server, session)).query).toMatchObject({ epoch: 'e1', after: '10' });
  });

  it('[V24 V28] takes a snapshot after a gap, and continues from its number', async () => {
    const { server, session, connection } = await attached();
    const seen = seenBy(session);
    connection.cut();
    const next = await reconnection(server, session);

    next.send(connected({ epoch: 'e2', seq: 4, resume: 'gap' }), synced(), turn(), turn(4), turn(5));
    await reached(session, 'open');
    await session.ping();
    next.cut();
    const last = await reconnection(server, session);

    expect(seen).toEqual(['server_connected 4', 'state_synced', 'turn_start', 'turn_start 5']);
    expect(last.query).toMatchObject({ epoch: 'e2', after: '5' });
  });

  it('[V24 V28] does not resume from an incomplete snapshot', async () => {
    const { server, session } = await remote();
    const first = await server.connection();
    first.respondsToPings = false;
    first.send(connected(), synced(), { type: 'message_start', message: {} });
    await reached(session, 'open');
    await first.next();

    first.cut();
    const next = await reconnection(server, session);

    expect(next.query).toMatchObject({ session: 's1' });
    expect(next.query).not.toHaveProperty('after');
    expect(next.query).not.toHaveProperty('epoch');
  });

  it.each([
    ['after a gap, but from the position before it', connected({ epoch: 'e2', seq: 4, resume: 'gap' }), '10'],
    ['of another session', connected({ sessionId: 's2', epoch: 'e2', seq: 4 }), undefined],
  ])('[V24 V28] does not resume from an incomplete snapshot %s', async (_case, begins, after) => {
    const { server, session, connection } = await attached();
    connection.cut();
    const second = await reconnection(server, session);
    second.send(begins);
    await nextEvent(session);

    const dropped = new Promise((resolve) => session.onState(resolve));
    second.cut();
    await dropped;
    const next = await reconnection(server, session);

    expect([next.query['epoch'], next.query['after']]).toEqual([after && 'e1', after]);
  });

  it('[V28] delivers a numbered server_error once', async () => {
    const { server, session, connection } = await attached();
    const seen: string[] = [];
    session.onEvent((event) => {
      if (event.type === 'server_error') seen.push(event.error);
    });
    const serverError = { type: 'server_error', error: 'The agent is gone', seq: 11 };
    connection.send(serverError);
    await nextEvent(session);
    connection.cut();
    const next = await reconnection(server, session);
    next.send(connected({ seq: 11, resume: 'ok' }), serverError);
    await session.ping();

    expect(next.query).toMatchObject({ after: '11' });
    expect(seen).toEqual(['The agent is gone']);
  });

  it('[V28] delivers a repeated agent_settled once', async () => {
    const { server, session, connection } = await attached();
    const seen: string[] = [];
    session.onEvent((event) => {
      if (event.type === 'agent_settled') seen.push(event.runId);
    });
    const end = (runId: string) => ({ type: 'agent_settled', runId, aborted: false, outcome: 'error' });
    connection.cut();
    const second = await reconnection(server, session);
    second.send(connected({ epoch: 'e2', seq: 4, resume: 'gap' }), end('r1'));
    while (seen.length === 0) await nextEvent(session);
    const dropped = new Promise((resolve) => session.onState(resolve));
    second.cut();
    await dropped;
    const third = await reconnection(server, session);
    third.send(connected({ epoch: 'e2', seq: 4, resume: 'gap' }), end('r1'), end('r2'), synced());
    await reached(session, 'open');

    expect(seen).toEqual(['r1', 'r2']);
  });

  it('[V28] does not take the end of one snapshot for that of the next', async () => {
    const { server, session } = await remote();
    const first = await server.connection();
    first.respondsToPings = false;
    first.send(connected(), synced());
    const ping = await first.next();

    first.send(connected(moveTo));
    first.respond(ping);
    first.send({ type: 'server_error', error: 'the last thing that is heard' });
    await nextEvent(session, 'server_error');
    first.cut();
    const next = await reconnection(server, session);

    expect(next.query).toMatchObject({ session: 's2' });
    expect(next.query).not.toHaveProperty('after');
  });

  it('[V32] is open only after state_synced', async () => {
    const { server, session } = await remote();
    const connection = await server.connection();
    const states: string[] = [];
    session.onState(({ state }) => states.push(state));

    connection.send(connected());
    await nextEvent(session);
    const before = session.status.state;
    connection.send(synced());
    await reached(session, 'open');

    expect(before).toBe('connecting');
    expect(states).toEqual(['open']);
  });
});

describe('a session move', () => {
  it('[V29] changes the session of the next connection', async () => {
    const { server, session, connection } = await attached();

    const moved = session.newSession({});
    connection.respond(await connection.next(), { cancelled: false });
    connection.send(connected(moveTo), synced({ sessionId: 's2' }), turn(4));
    await moved;
    await session.ping();
    connection.cut();
    const next = await reconnection(server, session);

    expect(session.sessionId).toBe('s2');
    expect(next.query).toMatchObject({ session: 's2', epoch: 'e2', after: '4' });
  });

  it('[V29] counts from its response on, if that names the session', async () => {
    const { server, session, connection } = await attached();

    const moved = session.fork({ entryId: 'x' });
    connection.respond(await connection.next(), { text: '', cancelled: false, sessionId: 's2' });
    await moved;
    connection.cut();
    const next = await reconnection(server, session);

    expect(next.query).toMatchObject({ session: 's2' });
    expect(next.query).not.toHaveProperty('after');
  });

  it.each([
    ['that was cancelled', {}, { cancelled: true, sessionId: 's2' }],
    ['that is detached', { detached: true }, { cancelled: false, sessionId: 's2' }],
  ])('[V29] %s changes nothing', async (_case, params, data) => {
    const { session, connection } = await attached();

    const moved = session.clone(params);
    connection.respond(await connection.next(), data);
    await moved;

    expect(session.sessionId).toBe('s1');
  });

  it('[V30] holds back commands for the next session, but neither control nor reads nor dialog answers', async () => {
    const { session, connection } = await attached();

    const calls = [session.newSession({}), session.prompt({ message: 'there' }), session.getState(), session.abort()];
    session.send({ type: 'extension_ui_response', id: 'd', confirmed: true });
    const [move, ...others] = await connection.take(4);
    const early = others.map(({ type }) => type);
    if (move) connection.respond(move, { cancelled: false });
    connection.send(connected(moveTo), synced({ sessionId: 's2' }));
    const late = await connection.next();
    for (const sent of [...others.slice(0, 2), late]) connection.respond(sent, {});
    await Promise.all(calls);

    expect(early).toEqual(['get_state', 'abort', 'extension_ui_response']);
    expect(late).toMatchObject({ type: 'prompt', message: 'there' });
  });

  it('[V30] that is cut rejects the commands for the next session', async () => {
    const { server, session, connection } = await attached();

    const moved = session.newSession({});
    const prompt = session.prompt({ message: 'there' });
    const before = session.getState();
    const failures = [
      expect(moved).rejects.toThrow('"new_session" was answered: whether it was done is not known'),
      expect(prompt).rejects.toThrow('"prompt" was not sent'),
    ];
    await connection.take(2);
    connection.cut();
    const next = await reconnection(server, session);
    next.send(connected({ resume: 'ok' }));
    next.respond(await next.next(), { isIdle: true });

    await Promise.all(failures);
    expect(await before).toEqual({ isIdle: true });
    expect(next.query).toMatchObject({ session: 's1' });
  });
});

describe('a shell command', () => {
  it('gets its own output, also while another one runs', async () => {
    const { session, connection } = await attached();
    const printed: string[] = [];
    const one = session.bash({ command: 'one' }, (text) => printed.push(`one: ${text}`));
    const other = session.bash({ command: 'other' }, (text) => printed.push(`other: ${text}`));
    const [first, second] = await connection.take(2);

    connection.send(
      { type: 'bash_execution_update', id: second?.id, delta: 'b' },
      { type: 'bash_execution_update', id: first?.id, delta: 'a' },
    );
    for (const sent of [first, second]) if (sent) connection.respond(sent, { output: String(sent['command']) });

    expect(await Promise.all([one, other])).toEqual([{ output: 'one' }, { output: 'other' }]);
    expect(printed).toEqual(['other: b', 'one: a']);
  });

  it('rejects after the session was closed', async () => {
    const { session } = await attached();

    session.close();

    await expect(session.bash({ command: 'ls' })).rejects.toMatchObject({ name: 'ConnectionLost' });
  });
});
