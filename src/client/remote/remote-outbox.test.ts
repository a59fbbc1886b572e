import { describe, expect, it, vi } from 'vitest';
import { CommandFailed, ConnectionLost } from '../errors.ts';
import { attached, connected, reached, reconnection, remote, synced } from '../testing/remote-server.node.ts';
import { MAX_OUTBOX_COMMANDS, OutboxFull } from './outbox.ts';

const accepted = { disposition: 'started', runId: 'r1' };
const resumed = connected({ resume: 'ok' });

describe('a message', () => {
  it('[V30] without a response is sent again with the same id, in order, and resolves once', async () => {
    const { server, session, connection } = await attached();
    const calls = [
      session.prompt({ message: 'one' }),
      session.steer({ message: 'two', clientMessageId: 'mine' }),
      session.followUp({ message: 'three' }),
      session.abortAndPrompt({ message: 'four' }),
    ];
    const first = await connection.take(4);

    connection.cut();
    const next = await reconnection(server, session);
    next.send(resumed);
    const second = await next.take(4);
    for (const sent of second) next.respond(sent, { ...accepted, message: sent['message'] });

    expect(second).toEqual(first);
    expect(first.map(({ message }) => message)).toEqual(['one', 'two', 'three', 'four']);
    expect(new Set(first.map(({ clientMessageId }) => clientMessageId)).size).toBe(4);
    expect(first[1]).toMatchObject({ clientMessageId: 'mine' });
    expect(await Promise.all(calls)).toMatchObject(first.map(({ message }) => ({ message })));
  });

  it('[V30] with a response is not sent again', async () => {
    const { server, session, connection } = await attached();
    const call = session.prompt({ message: 'one' });
    connection.respond(await connection.next(), accepted);
    await call;

    connection.cut();
    const next = await reconnection(server, session);
    next.send(resumed);
    await session.ping();

    expect(next.sent).toEqual([]);
  });

  it.each(['/new', '/fork 0199ab', '/fork\ta '])(
    '[V30] that moves to another session is not sent again, nor is anything behind it: %j',
    async (message) => {
      const { server, session, connection } = await attached();
      const move = expect(session.prompt({ message })).rejects.toThrow('whether it was done is not known');
      const next = expect(session.prompt({ message: 'there' })).rejects.toBeInstanceOf(ConnectionLost);
      await connection.next();

      connection.cut();
      const again = await reconnection(server, session);
      again.send(resumed);
      await reached(session, 'open');
      await session.ping();

      await move;
      await next;
      expect([...connection.sent, ...again.sent]).toEqual([]);
    },
  );

  it('[V31] is listed in the outbox until it is acknowledged', async () => {
    const { server, session } = await remote();
    const call = session.prompt({ message: 'hello', clientMessageId: 'c1' });
    void session.getState().catch(() => {});
    const seen = [session.outbox];

    const connection = await server.connection();
    connection.send(connected(), synced());
    await reached(session, 'open');
    seen.push(session.outbox);
    connection.respond(await connection.next(), accepted);
    await call;
    seen.push(session.outbox);

    const item = { clientMessageId: 'c1', text: 'hello' };
    expect(seen).toEqual([[{ ...item, state: 'waiting' }], [{ ...item, state: 'sent' }], []]);
  });

  it('[V41] that was never sent can be withdrawn; a sent one cannot', async () => {
    const { server, session, connection } = await attached();
    const sent = session.prompt({ message: 'sent', clientMessageId: 'c1' });
    await connection.next();
    connection.cut();
    await reached(session, 'reconnecting');
    const unsent = session.prompt({ message: 'unsent', clientMessageId: 'c2' });
    const rejected = expect(unsent).rejects.toMatchObject({ name: 'ConnectionLost', message: 'It was withdrawn' });

    const waiting = session.outbox.map(({ text, mayHaveArrived }) => [text, mayHaveArrived]);
    const withdrawn = ['c1', 'c2', 'c2'].map((id) => session.withdraw(id));
    await rejected;
    const next = await reconnection(server, session);
    next.send(resumed);
    next.respond(await next.next(), accepted);
    await sent;
    await session.ping();

    expect(waiting).toEqual([
      ['sent', true],
      ['unsent', undefined],
    ]);
    expect(withdrawn).toEqual([false, true, false]);
    expect(next.sent).toEqual([]);
  });

  it('[V30] that is too large is rejected, and smaller ones are sent again', async () => {
    const { server, session, connection } = await attached();
    const small = session.prompt({ message: 'small' });
    const big = session.prompt({ message: 'big'.repeat(1000) });
    const refused = expect(big).rejects.toMatchObject({ name: 'CommandFailed', code: 'invalid_params' });
    await connection.take(2);

    connection.close(1009);
    const next = await reconnection(server, session);
    next.send(resumed);
    next.respond(await next.next(), accepted);

    await refused;
    expect(await small).toEqual(accepted);
  });
});

describe('a command in flight when the connection is lost', () => {
  it('[V30] is sent again if it is a read', async () => {
    const { server, session, connection } = await attached();
    const calls = [session.getState(), session.waitIdle(), session.setHostTools({ tools: [] })];
    const first = await connection.take(3);

    connection.cut();
    const next = await reconnection(server, session);
    next.send(resumed);
    const second = await next.take(3);
    for (const sent of second) next.respond(sent, { of: sent.type });

    expect(second).toEqual(first);
    expect(await Promise.all(calls)).toEqual([{ of: 'get_state' }, { of: 'wait_idle' }, { of: 'set_host_tools' }]);
  });

  it('[V30] rejects if it changes state, because its outcome is unknown', async () => {
    const { server, session, connection } = await attached();
    const calls = [session.setSessionName({ name: 'x' }), session.bash({ command: 'make' }), session.exportHtml({})];
    const outcomes = Promise.allSettled(calls);
    await connection.take(3);

    connection.cut();
    const next = await reconnection(server, session);
    next.send(resumed);
    await session.ping();

    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ConnectionLost) });
      expect(outcome).toHaveProperty('reason.message', expect.stringContaining('whether it was done is not known'));
    }
    expect(next.sent).toEqual([]);
  });

  it('[V30] keeps its error response', async () => {
    const { session, connection } = await attached();
    const call = session.setModel({ provider: 'a', modelId: 'b' });

    connection.reject(await connection.next(), 'model_not_found');

    await expect(call).rejects.toBeInstanceOf(CommandFailed);
  });
});

describe('without a connection', () => {
  it('[V31] every command and dialog answer waits, and is sent in order', async () => {
    const { server, session, connection } = await attached();
    connection.cut();
    await reached(session, 'reconnecting');

    void session.setSessionName({ name: 'x' }).catch(() => {});
    void session.prompt({ message: 'y' }).catch(() => {});
    session.send({ type: 'extension_ui_response', id: 'd', cancelled: true });
    session.send({ type: 'host_tool_update', id: 'h', partialResult: { content: [] } });
    void session.getState().catch(() => {});
    const next = await reconnection(server, session);
    next.send(resumed);

    const sent = await next.take(4);
    expect(sent.map(({ type }) => type)).toEqual(['set_session_name', 'prompt', 'extension_ui_response', 'get_state']);
  });

  it('[V31] a bounded number of commands waits', async () => {
    const { session } = await remote();
    const waiting = Array.from({ length: MAX_OUTBOX_COMMANDS }, () => session.prompt({ message: 'x' }));
    const outcomes = Promise.allSettled(waiting);

    await expect(session.prompt({ message: 'one too many' })).rejects.toBeInstanceOf(OutboxFull);
    const seen = session.outbox.length;
    session.close();

    expect(seen).toBe(MAX_OUTBOX_COMMANDS);
    for (const outcome of await outcomes) expect(outcome).toHaveProperty('reason.name', 'ConnectionLost');
  });

  it('[V31] every frame waits, because the agent waits for each', async () => {
    const { server, session } = await remote();
    const ids = Array.from({ length: MAX_OUTBOX_COMMANDS + 1 }, (_, id) => String(id));
    for (const id of ids) session.send({ type: 'extension_ui_response', id, cancelled: true });

    const connection = await server.connection();
    connection.send(connected(), synced());
    await reached(session, 'open');
    await session.ping();

    expect(connection.sent.map(({ id }) => id)).toEqual(ids);
  });
});

describe('with a connection', () => {
  it('[V31] a bounded number of commands is pending; frames and pings are still sent', async () => {
    const { session, connection } = await attached();
    const outcomes = Promise.allSettled(Array.from({ length: MAX_OUTBOX_COMMANDS }, () => session.waitIdle()));
    await connection.take(MAX_OUTBOX_COMMANDS);
    connection.respondsToPings = false;

    await expect(session.getState()).rejects.toBeInstanceOf(OutboxFull);
    session.send({ type: 'host_tool_result', id: 'h', result: { content: [] } });
    vi.advanceTimersByTime(20_000);
    const sent = await connection.take(2);
    session.close();

    expect(sent.map(({ type }) => type)).toEqual(['host_tool_result', 'ping']);
    for (const outcome of await outcomes) expect(outcome).toHaveProperty('reason.name', 'ConnectionLost');
  });

  it('[V31] a response makes room for another command', async () => {
    const { session, connection } = await attached();
    const calls = Array.from({ length: MAX_OUTBOX_COMMANDS }, () => session.waitIdle());
    const outcomes = Promise.allSettled(calls);
    for (const sent of (await connection.take(MAX_OUTBOX_COMMANDS)).slice(0, 1)) connection.respond(sent);
    await calls[0];

    void session.getState().catch(() => {});

    expect((await connection.next()).type).toBe('get_state');
    session.close();
    await outcomes;
  });
});

it('[V30] a dialog answer is sent again unless a later command got its response', async () => {
  const { server, session, connection } = await attached();
  session.send({ type: 'extension_ui_response', id: 'first', confirmed: true });
  await session.ping();
  connection.respondsToPings = false;
  session.send({ type: 'extension_ui_response', id: 'second', confirmed: true });
  session.send({ type: 'host_tool_update', id: 'h', partialResult: { content: [] } });
  await connection.take(3);

  connection.cut();
  const next = await reconnection(server, session);
  next.send(resumed);
  await session.ping();

  expect(next.sent).toEqual([{ type: 'extension_ui_response', id: 'second', confirmed: true }]);
});

it('[V30] a dialog answer that is too large cancels its dialog', async () => {
  const { server, session, connection } = await attached();
  session.send({ type: 'extension_ui_response', id: 'small', confirmed: true });
  session.send({ type: 'extension_ui_response', id: 'big', value: 'big'.repeat(1000) });
  await connection.take(2);

  connection.close(1009);
  const next = await reconnection(server, session);
  next.send(resumed);
  await session.ping();

  expect(next.sent).toEqual([
    { type: 'extension_ui_response', id: 'small', confirmed: true },
    { type: 'extension_ui_response', id: 'big', cancelled: true },
  ]);
});
