import { describe, expect, it } from 'vitest';
import type { CustomTool } from '../custom-tools.ts';
import { MAX_RECENT_IDS } from '../recent-ids.ts';
import { settled } from '../testing/agent.ts';
import { attached, connected, reached, reconnection, synced } from '../testing/remote-server.node.ts';
import type { UiAnswer } from '../ui-requests.ts';

const started = { disposition: 'started', runId: 'r1' };
const gap = connected({ epoch: 'e2', seq: 3, resume: 'gap' });
const interrupted = { ...settled('r1'), outcome: 'error', errorCode: 'interrupted' };

// A prompt whose connection was cut during its run.
async function disconnectedDuringRun() {
  const { server, session, connection } = await attached();
  const run = session.promptAndWait('hello');
  connection.respond(await connection.next(), started);
  connection.send({ type: 'agent_start', seq: 11 });
  await session.ping();
  connection.cut();
  const next = await reconnection(server, session);
  return { session, run, next, server };
}

describe('promptAndWait', () => {
  it('[V36] gets the end of its run after a reconnect', async () => {
    const { run, next } = await disconnectedDuringRun();

    next.send(
      connected({ resume: 'ok' }),
      { type: 'agent_end', messages: ['m'], seq: 12 },
      { ...settled('r1'), seq: 13 },
    );

    const { settled: last, messages, events } = await run;
    expect(last).toMatchObject({ runId: 'r1', outcome: 'ok' });
    expect(messages).toEqual(['m']);
    expect(events.map(({ type }) => type)).toEqual(['agent_start', 'server_connected', 'agent_end', 'agent_settled']);
  });

  it('[V36] keeps waiting if the run continues after a gap', async () => {
    const { session, run, next } = await disconnectedDuringRun();

    next.send(gap, synced({ isStreaming: true, runId: 'r1' }));
    await reached(session, 'open');
    await session.ping();
    next.send({ ...settled('r1'), seq: 4 });

    expect((await run).settled).toMatchObject({ runId: 'r1' });
  });

  it('[V36] gets the end of a run that a server restart interrupted', async () => {
    const { run, next } = await disconnectedDuringRun();

    next.send(gap, synced(), interrupted);

    expect((await run).settled).toEqual(interrupted);
    expect(await run).not.toHaveProperty('missed');
  });

  it.each([
    ['nothing runs', {}],
    ['another one runs', { isStreaming: true, runId: 'r2' }],
  ])('[V36] reports a missed end if %s after a gap', async (_case, state) => {
    const { run, next } = await disconnectedDuringRun();

    next.send(gap, synced(state));

    expect(await run).toMatchObject({ accepted: started, settled: undefined, missed: true, messages: [] });
  });

  it('[V36] reports a missed end, even if the next connection is lost before its snapshot is complete', async () => {
    const { session, run, next, server } = await disconnectedDuringRun();
    next.respondsToPings = false;
    next.send(gap, synced(), { type: 'turn_start', seq: 4 });
    await next.next();
    next.cut();
    const last = await reconnection(server, session);

    last.send(connected({ epoch: 'e2', seq: 4, resume: 'ok' }));

    expect(last.query).toMatchObject({ epoch: 'e2', after: '4' });
    expect(await run).toMatchObject({ settled: undefined, missed: true });
  });

  it('[V36] keeps waiting if the prompt is answered after the snapshot', async () => {
    const { server, session, connection } = await attached();
    const run = session.promptAndWait('hello');
    await connection.next();
    connection.cut();
    const next = await reconnection(server, session);

    next.respondsToPings = false;
    next.send(gap, synced());
    const [prompt, ping] = await next.take(2);
    if (prompt) next.respond(prompt, started);
    if (ping) next.respond(ping);
    next.respondsToPings = true;
    await session.ping();
    next.send({ ...settled('r1'), seq: 4 });

    expect(await run).toMatchObject({ settled: { runId: 'r1' } });
  });
});

describe('custom tools', () => {
  const tool: CustomTool = { name: 'mine', description: '', parameters: {}, execute: () => 'done' };
  const call = { type: 'host_tool_call', id: 'h', toolCallId: 't', toolName: 'mine', arguments: {} };

  async function registered(execute: CustomTool['execute'] = tool.execute) {
    const parts = await attached();
    const registration = parts.session.setCustomTools([{ ...tool, execute }]);
    parts.connection.respond(await parts.connection.next(), { toolNames: ['mine'] });
    await registration;
    return parts;
  }

  it('[V35] are registered again after a gap, before waiting commands', async () => {
    const { server, session, connection } = await registered();
    connection.cut();
    await reached(session, 'reconnecting');
    void session.prompt({ message: 'x' }).catch(() => {});

    const next = await reconnection(server, session);
    next.send(gap, synced(), call);
    const [first, second, third] = await next.take(3);

    expect(first).toMatchObject({ type: 'set_host_tools', tools: [{ name: 'mine' }] });
    expect(second).toMatchObject({ type: 'prompt' });
    expect(third).toMatchObject({ type: 'host_tool_result', id: 'h' });
  });

  it('[V35] are registered again after a session move', async () => {
    const { session, connection } = await registered();

    const moved = session.newSession({});
    connection.respond(await connection.next(), { cancelled: false });
    connection.send(connected({ sessionId: 's2', epoch: 'e2' }), synced({ sessionId: 's2' }));
    await moved;

    expect(await connection.next()).toMatchObject({ type: 'set_host_tools', tools: [{ name: 'mine' }] });
  });

  it('[V35] are aborted when the connection is lost, and registered again after a resume', async () => {
    const signals: AbortSignal[] = [];
    const { server, session, connection } = await registered((_args, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    connection.send(call);
    await session.ping();

    connection.cut();
    const next = await reconnection(server, session);
    next.send(connected({ resume: 'ok' }));

    expect(await next.next()).toMatchObject({ type: 'set_host_tools', tools: [{ name: 'mine' }] });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('hello', () => {
  it('[V35] is repeated first on each connection, with the last accepted fields', async () => {
    const { server, session, connection } = await attached();
    const calls = [
      session.hello({ ui: [], stream: 'delta' }),
      session.hello({ builtins: true, stream: 'cumulative' }),
      session.hello({ heartbeatMs: 5 }).catch(() => {}),
    ];
    connection.respond(await connection.next());
    connection.respond(await connection.next());
    connection.reject(await connection.next(), 'invalid_params');
    await Promise.all(calls);
    connection.cut();
    await reached(session, 'reconnecting');
    void session.prompt({ message: 'x' }).catch(() => {});

    const next = await reconnection(server, session);
    next.send(connected({ resume: 'ok' }));
    const [first, second] = await next.take(2);

    const { id: _id, ...hello } = first ?? {};
    expect(hello).toEqual({ type: 'hello', ui: [], builtins: true, stream: 'cumulative' });
    expect(second).toMatchObject({ type: 'prompt' });
  });

  it('[V35] without a response is sent again, and is not repeated after a session move', async () => {
    const { server, session, connection } = await attached();
    const answer = session.hello({ ui: [] });
    await connection.next();
    connection.cut();
    const next = await reconnection(server, session);
    next.send(connected({ resume: 'ok' }));
    next.respond(await next.next());
    await answer;

    next.send(connected({ sessionId: 's2', epoch: 'e2' }), synced({ sessionId: 's2' }));
    await session.ping();

    expect(next.sent).toEqual([]);
  });
});

describe('dialogs', () => {
  const dialog = (id: string) => ({ type: 'extension_ui_request', id, method: 'input', title: 'Well?' });

  // Shown dialogs, and how to answer each.
  async function withDialogs(...ids: string[]) {
    const parts = await attached();
    const shown: { id: string; signal: AbortSignal; answer: (text: UiAnswer) => void }[] = [];
    parts.session.onUiRequest(
      ({ id }, { signal }) => new Promise<UiAnswer>((answer) => shown.push({ id, signal, answer })),
    );
    parts.connection.send(...ids.map(dialog));
    await parts.session.ping();
    return { ...parts, shown };
  }

  it('[V35] that stay open are shown once; closed ones are aborted', async () => {
    const { server, session, connection, shown } = await withDialogs('a', 'b');
    connection.cut();
    const next = await reconnection(server, session);

    next.send(gap, synced(), dialog('b'), dialog('c'));
    await reached(session, 'open');
    await session.ping();

    expect(shown.map(({ id, signal }) => [id, signal.aborted])).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ]);
  });

  it('[V35] that are closed are aborted, even if the next connection is lost before its snapshot is complete', async () => {
    const { server, session, connection, shown } = await withDialogs('a', 'b');
    connection.cut();
    const next = await reconnection(server, session);
    next.respondsToPings = false;
    next.send(gap, synced(), dialog('b'), { type: 'turn_start', seq: 4 });
    await next.next();
    next.cut();
    const last = await reconnection(server, session);

    last.send(connected({ epoch: 'e2', seq: 4, resume: 'ok' }));
    await reached(session, 'open');
    await session.ping();

    expect(shown.map(({ id, signal }) => [id, signal.aborted])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  it('[V35] with a lost answer are answered again, not shown again', async () => {
    const { server, session, connection, shown } = await withDialogs('a');
    connection.respondsToPings = false;
    shown[0]?.answer('yes');
    await connection.next();
    connection.cut();
    const next = await reconnection(server, session);

    next.send(gap, synced(), dialog('a'));

    expect(await next.next()).toEqual({ type: 'extension_ui_response', id: 'a', value: 'yes' });
    await session.ping();
    expect(shown).toHaveLength(1);
  });

  it('[V35] of the previous session are aborted by a move', async () => {
    const { session, connection, shown } = await withDialogs('a');

    const moved = session.newSession({});
    connection.respond(await connection.next(), { cancelled: false });
    connection.send(connected({ sessionId: 's2', epoch: 'e2' }), synced({ sessionId: 's2' }));
    await moved;
    await session.ping();

    expect(shown[0]?.signal.aborted).toBe(true);
  });

  it('[V35] that were answered long ago may be shown again', async () => {
    const { session, connection } = await attached();
    const shown: string[] = [];
    session.onUiRequest(({ id }) => {
      shown.push(id);
      return 'yes';
    });

    const ids = Array.from({ length: MAX_RECENT_IDS + 1 }, (_, index) => String(index));
    connection.send(...ids.map(dialog));
    await connection.take(ids.length);
    connection.send(dialog('1'), dialog('0'));
    await connection.next();

    expect(shown).toEqual([...ids, '0']);
  });
});
