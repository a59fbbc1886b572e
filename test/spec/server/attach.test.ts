import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { newGate, readSessionFile, sessionFiles } from '../../support/agent/test-agent.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { itOnOneServer, OWNER_TOKEN, startServer } from '../../support/server/test-server.ts';

const HELLO = [{ text: 'Hello there.', when: '.', keep: true }];

it('[W1 W9 W17 W18 W26] a browser that connects at /session gets server_connected and a snapshot', async () => {
  const server = await startServer({ script: HELLO });
  const origin = new URL(server.loginLink).origin;
  const peer = new RemotePeer(`${server.url}?token=${OWNER_TOKEN}`, { headers: { origin } });

  const synced = await peer.next('state_synced');

  expect(new URL(server.url).pathname).toBe('/session');
  expect(peer.eventTypes).toEqual(['server_connected', 'state_synced']);
  const { sessionFile, sessionId } = await peer.ok({ type: 'get_state' });
  expect(peer.records[0]).toMatchObject({ sessionFile, sessionId });
  expect(synced).toMatchObject({ messages: [], state: { sessionFile, sessionId, isIdle: true } });
  expect(assistantTexts(await peer.run('Hi'))).toEqual(['Hello there.']);
  expect(readSessionFile(sessionFile)[0]).toMatchObject({ type: 'session', id: sessionId });
});

it('[W9] the server accepts no WebSocket on another path', async () => {
  const server = await startServer();
  const peer = new RemotePeer(`${server.url.replace('/session', '/other')}?token=${OWNER_TOKEN}`);

  expect(await peer.ended).toMatchObject({ code: 1006 });
});

it('[W2 W28] a second client attaches to the running agent, and both get the same events', async () => {
  const server = await startServer({ script: HELLO });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });

  await first.run('Hi');
  await second.next('agent_settled');

  expect(server.agents()).toHaveLength(1);
  expect(server.agents()[0]?.args).toContain('--mode rpc');
  expect(numbered(second)).toEqual(numbered(first));
});

it('[W10 W26] a session can be opened by file or by id, and its messages are sent', async () => {
  const server = await startServer({ script: HELLO });
  const first = await server.attach();
  await first.run('Hi');
  const { sessionFile, sessionId } = await first.ok({ type: 'get_state' });

  for (const session of [sessionFile, sessionId]) {
    const peer = server.connect({ session });
    const { messages, state } = await peer.next('state_synced');
    expect(state.sessionId).toBe(sessionId);
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
    expect(messages).toEqual((await peer.ok({ type: 'get_messages' })).messages);
  }
});

it('[W10] without `session` each connection creates a new session', async () => {
  const server = await startServer();
  const peers = await Promise.all([server.attach(), server.attach(), server.attach({ session: '' })]);

  expect(new Set(peers.map(({ cursor }) => cursor.session)).size).toBe(3);
});

it('[W11] a new session uses `cwd`, or the folder of the server', async () => {
  const server = await startServer();
  const other = join(server.home.root, 'other');
  mkdirSync(other);

  const cwds = [{ cwd: other }, {}].map(async (query) => (await server.attach(query)).ok({ type: 'get_state' }));

  expect((await Promise.all(cwds)).map(({ cwd }) => cwd)).toEqual([other, server.home.cwd]);
});

it('[W11] a `cwd` that is not a folder is rejected', async () => {
  const server = await startServer();
  const peer = server.connect({ cwd: 'nowhere' });

  expect(await peer.ended).toMatchObject({ code: 4400, reason: expect.stringContaining('nowhere') });
});

itOnOneServer('a path names a session of the cluster, not a file')(
  '[W12 W20] an unknown session is rejected with its name, and no session is created',
  async () => {
    const server = await startServer();
    const file = join(server.home.root, 'no-session.jsonl');
    writeFileSync(file, 'some text\n');

    for (const session of ['/nowhere/a.jsonl', 'a.jsonl', '0b4b2b5e-7a0e-4a3e-9d57-0d3c6f9f0c11']) {
      const peer = server.connect({ session });
      expect(await peer.ended).toEqual({ code: 4404, reason: `Session not found: ${session}` });
      expect(peer.eventTypes).toEqual(['server_error', 'server_disconnected']);
      expect(peer.records[0]).toMatchObject({ error: `Session not found: ${session}`, code: 'session_not_found' });
    }
    expect(await server.connect({ session: file }).ended).toMatchObject({
      code: 4404,
      reason: expect.stringContaining('Not a session file: '),
    });
    expect(server.agents()).toEqual([]);
  },
);

it('[W13] `stream=delta` sends deltas; the default sends cumulative updates', async () => {
  const server = await startServer({ script: HELLO });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session, stream: 'delta' });

  await first.run('Hi');
  await second.next('agent_settled');

  expect(updates(first).every((update) => update['message'] !== undefined)).toBe(true);
  expect(updates(second).length).toBeGreaterThan(0);
  expect(updates(second).some((update) => update['message'] !== undefined)).toBe(false);
  expect(assistantTexts(second.records)).toEqual(assistantTexts(first.records));
});

it('[W27] a run continues when its client disconnects, and the next client gets its end', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well. ' }, { await: gate.path }, { text: 'Done.' }] }],
  });
  const first = await server.attach();
  await first.ok({ type: 'prompt', message: 'Hi' });
  await first.next('message_update');
  const { session } = first.cursor;
  first.socket.terminate();
  await first.ended;

  const second = await server.attach({ session });
  gate.open();

  expect(await second.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  expect(await second.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'Well. Done.' });
  expect(server.agents()).toHaveLength(1);
});

it('[W30] session events are numbered without a gap; responses and snapshots are not numbered', async () => {
  const server = await startServer({ script: HELLO });
  const peer = await server.attach();
  const { seq, epoch } = peer.records[0] as { seq: number; epoch: string } & (typeof peer.records)[0];
  await peer.run('Hi');

  const numbers = numbered(peer).map(([number]) => number);
  expect(epoch).toMatch(/./);
  expect(numbers).toEqual(numbers.map((_, index) => seq + 1 + index));
  const unnumbered = peer.records.filter((record) => record['seq'] === undefined).map(({ type }) => type);
  expect([...new Set(unnumbered)].sort()).toEqual(['response', 'state_synced']);
});

it('[W50] `tail` sends the last messages and a cursor for earlier pages', async () => {
  const server = await startServer({ script: HELLO });
  const first = await server.attach();
  for (const message of ['one', 'two', 'three']) await first.run(message);
  const { messages } = await first.ok({ type: 'get_messages' });

  const second = server.connect({ session: first.cursor.session, tail: 2 });
  const { messages: last, cursor } = await second.next('state_synced');
  const page = await second.ok({ type: 'get_messages_page', from: 'end', cursor, limit: 3 });
  const rest = await second.ok({ type: 'get_messages_page', from: 'end', cursor: page.nextCursor });

  expect(last).toEqual(messages.slice(-2));
  expect([...rest.messages, ...page.messages, ...last]).toEqual(messages);
  expect(rest.nextCursor).toBeUndefined();
  const whole = server.connect({ session: first.cursor.session, tail: 100 });
  expect(await whole.next('state_synced')).toEqual({ type: 'state_synced', state: expect.anything(), messages });
});

it('[W51] `new` with the same id creates one session, however many clients send it', async () => {
  const server = await startServer({ script: HELLO });
  const id = '5b0a3c1e-6d0f-4f63-9f0b-3f1f6f0a7c11';

  const peers = await Promise.all([server.attach({ new: id }), server.attach({ new: id })]);
  const later = await server.attach({ new: id });

  for (const peer of [...peers, later]) expect(peer.cursor.session).toBe(id);
  expect(server.agents()).toHaveLength(1);
  await later.run('Hi');
  expect(sessionFiles(server.home)).toHaveLength(1);
});

it('[W51] `new` finds the same session after its agent was parked, with or without messages', async () => {
  const server = await startServer({ script: HELLO, args: ['--park-after', '0'] });
  const id = '5b0a3c1e-6d0f-4f63-9f0b-3f1f6f0a7c12';
  const other = join(server.home.root, 'other');
  mkdirSync(other);
  for (let visits = 1; visits <= 3; visits++) await (await server.attach({ new: id, cwd: other })).disconnect();

  const second = await server.attach({ new: id });
  expect(await second.ok({ type: 'get_state' })).toMatchObject({ sessionId: id, cwd: other });
  await second.run('Hi');
  await second.disconnect();
  const third = server.connect({ new: id });

  expect((await third.next('state_synced')).messages).toHaveLength(2);
  expect(third.cursor.session).toBe(id);
  expect(sessionFiles(server.home)).toHaveLength(1);
});

it('[W51] `new` with an invalid id is rejected', async () => {
  const server = await startServer();
  expect(await server.connect({ new: '../evil' }).ended).toMatchObject({ code: 4400 });
});

/** Sequence number and type of each numbered record. */
const numbered = ({ records }: RemotePeer) =>
  records
    .filter(({ type, seq }) => seq !== undefined && type !== 'server_connected')
    .map(({ seq, type }) => [seq, type] as const);

const updates = ({ records }: RemotePeer) => records.filter(({ type }) => type === 'message_update');
