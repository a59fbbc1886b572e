import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { SessionState } from '../../../src/protocol/generated/vocabulary.ts';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { fixture, userExtension } from '../../support/agent/extensions.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import { entryIdOf } from '../../support/sessions/session-tree.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

it('[W7] clients may use equal request ids: each gets only its own responses', async () => {
  const gate = newGate();
  const server = await startServer({ script: TALK });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });

  first.send({ id: 'same', type: 'bash', command: `until [ -e ${gate.path} ]; do sleep 0.05; done; echo first` });
  await first.ok({ type: 'get_state' });
  expect(await second.ok({ id: 'same', type: 'bash', command: 'echo second' })).toMatchObject({ output: 'second\n' });
  gate.open();
  const slow = await first.find(({ type, command }) => type === 'response' && command === 'bash');

  expect(slow).toMatchObject({ id: 'same', data: { output: 'first\n' } });
  expect(second.records.filter(({ command }) => command === 'bash')).toHaveLength(1);
  expect(updatesOf(first)).toEqual([{ id: 'same', text: 'first\n' }]);
  expect(updatesOf(second)).toEqual([{ id: 'same', text: 'second\n' }]);
});

/** Waits until a client gets this `runningBash`. */
const waitForRunningBash = (peer: RemotePeer, runningBash: unknown) =>
  peer.find(({ type, state }) => type === 'state_changed' && isDeepStrictEqual(state, { runningBash }));

it('[B21] every client gets `runningBash`, also a client that attaches meanwhile and during a run', async () => {
  const [gate, end] = [newGate(), newGate()];
  const steps = [{ text: 'Well, ' }, { await: end.path }, { text: 'done.' }];
  const server = await startServer({ script: [{ steps }] });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  const command = `until [ -e ${gate.path} ]; do sleep 0.05; done`;
  const running = [{ command, excludeFromContext: false }];

  await first.ok({ type: 'prompt', message: 'Talk' });
  first.send({ type: 'bash', command });
  await waitForRunningBash(second, running);
  const third = await server.attach({ session: first.cursor.session });
  const { state } = await third.find(({ type }) => type === 'state_synced');
  gate.open();
  await waitForRunningBash(second, null);
  await waitForRunningBash(third, null);
  end.open();

  expect((state as SessionState).runningBash).toEqual(running);
});

it('[B21] `runningBash` is cleared when the agent is killed', async () => {
  const gate = newGate();
  const server = await startServer({ script: TALK });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  const command = `until [ -e ${gate.path} ]; do sleep 0.05; done; kill -9 $PPID`;
  first.send({ type: 'bash', command });
  await waitForRunningBash(second, [{ command, excludeFromContext: false }]);

  gate.open();
  await waitForRunningBash(second, null);

  expect(await first.find(({ command: name }) => name === 'bash')).toMatchObject({ success: false });
  expect((await second.ok({ type: 'get_state' })).runningBash).toBeUndefined();
});

it('[W7] a request id may be any JSON value or missing', async () => {
  const server = await startServer();
  const peer = await server.attach();

  for (const id of [0, null, '', { a: [1] }, 'x'.repeat(1000)]) {
    expect(await peer.request({ id, type: 'get_state' })).toMatchObject({ id, success: true });
  }
  peer.send({ type: 'get_session_stats' });
  const response = await peer.find(({ command }) => command === 'get_session_stats');
  expect(Object.hasOwn(response, 'id')).toBe(false);
});

it('[W7] a malformed command is answered only to its sender', async () => {
  const server = await startServer();
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });

  expect(await first.refused({ type: 'set_thinking_level', level: 'loud' })).toMatchObject({ code: 'invalid_params' });
  expect(await first.refused({ type: 'no_such_command' })).toMatchObject({ code: 'unknown_command' });
  await second.ok({ type: 'get_state' });

  expect(second.eventTypes).toEqual(['server_connected', 'state_synced']);
});

it('[W86 I10] `hello` applies to one client: stream, names, entries and heartbeats of others stay unchanged', async () => {
  const gate = newGate();
  const home = newHome();
  userExtension(home, 'broken.ts', "export default (pi) => pi.on('turn_start', () => { throw new Error('broken'); });");
  const server = await startServer({
    home,
    script: [{ steps: [{ text: 'One ' }, { await: gate.path }, { text: 'two.' }] }],
  });
  const plain = await server.attach();
  const other = await server.attach({ session: plain.cursor.session });
  const helloOptions = {
    stream: 'delta',
    legacyNames: false,
    entries: true,
    heartbeatMs: 20,
    builtins: true,
    ui: ['notify'],
  };

  const { capabilities } = await other.ok({ type: 'hello', ...helloOptions });
  await plain.ok({ type: 'prompt', message: 'Hi' });
  await other.next('heartbeat');
  await other.next('heartbeat');
  gate.open();
  await Promise.all([plain.next('agent_settled'), other.next('agent_settled')]);

  expect(capabilities).toMatchObject(helloOptions);
  const { limits, capabilities: defaults } = await plain.ok({ type: 'hello' });
  expect(limits.maxLineBytes).toBe(32 * 1024 * 1024);
  expect(defaults).toMatchObject({
    stream: 'cumulative',
    legacyNames: true,
    entries: false,
    heartbeatMs: 0,
    builtins: false,
  });
  for (const type of ['heartbeat', 'entry_appended']) {
    expect(plain.eventTypes).not.toContain(type);
    expect(other.eventTypes).toContain(type);
  }
  expect(plain.eventTypes).toContain('hook_error');
  expect(other.eventTypes).not.toContain('hook_error');
  expect(lastUpdate(plain)).toHaveProperty('message');
  expect(lastUpdate(other)).not.toHaveProperty('message');
  const names = async (peer: RemotePeer) =>
    (await peer.ok({ type: 'get_commands' })).commands.map(({ name }: { name: string }) => name);
  expect(await names(plain)).not.toContain('new');
  expect(await names(other)).toContain('new');
});

it('[W86] a client with `entries` gets every entry exactly once, whenever it subscribes', async () => {
  const server = await startServer({ script: TALK });
  const first = await server.attach({ entries: 1 });
  await first.run('one');
  const second = await server.attach({ session: first.cursor.session, entries: 1 });
  await first.run('two');
  await second.next('agent_settled');
  const third = await server.attach({ session: first.cursor.session });
  await third.ok({ type: 'hello', entries: true });
  await third.run('three');
  for (const peer of [first, second])
    await peer.find(({ type, seq }) => type === 'agent_settled' && seq === third.cursor.after);

  const { entries } = await first.ok({ type: 'get_entries' });
  const ids = entries.map(({ id }: { id: string }) => id);
  for (const peer of [first, second, third]) {
    const entryIds = peer.records
      .filter(({ type }) => type === 'entry_appended')
      .map(({ entry }) => (entry as { id: string }).id);
    expect(entryIds.slice(1)).toEqual(ids);
    expect(entryIds[0]).toBe(first.cursor.session);
  }
});

it('[X44] an extension error is sent under both names, unless the client turned legacy names off', async () => {
  const server = await startServer({ script: TALK, agentArgs: ['-e', fixture('dialogs')] });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session, legacyNames: 0 });

  await first.request({ type: 'prompt', message: '/broken' });
  const { extensionPath, event, error } = await second.next('extension_error');
  const legacyRecord = await first.next('hook_error');

  expect(legacyRecord).toEqual({ type: 'hook_error', hookPath: extensionPath, event, error });
  expect(error).toContain('this command does not work');
  expect(first.eventTypes).toContain('extension_error');
  await second.ok({ type: 'get_state' });
  expect(second.eventTypes).not.toContain('hook_error');
});

it('[W80] after a compaction every client gets a snapshot', async () => {
  const home = fastRetryHome();
  const server = await startServer({ home, script: [{ text: 'A summary.', when: 'summar', keep: true }, ...TALK] });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  await first.run(`first ${FILLER}`);
  await first.run(`second ${FILLER}`);
  await second.next('agent_settled');
  await second.next('agent_settled');

  await first.ok({ type: 'compact' });

  const { messages } = await first.ok({ type: 'get_messages' });
  expect(messages[0].role).toBe('compactionSummary');
  for (const peer of [first, second]) expect((await peer.next(syncedWith(messages))).messages).toEqual(messages);
});

it('[W80] after a navigation every client gets a snapshot', async () => {
  const server = await startServer({ script: TALK });
  const first = await server.attach();
  await first.run('first');
  await first.run('second');
  await first.run('third');
  const second = await server.attach({ session: first.cursor.session });
  const third = await server.attach({ session: first.cursor.session, tail: 1 });

  await first.ok({ type: 'navigate_tree', targetId: await entryIdOf(first, 'third') });

  for (const peer of [first, second]) expect((await peer.next('state_synced')).messages).toHaveLength(4);
  expect(await third.next('state_synced')).toMatchObject({
    messages: [{ role: 'assistant' }],
    cursor: expect.any(String),
  });
});

it('[W80] session name and queue changes are sent to all clients', async () => {
  const home = newHome();
  const gate = newGate();
  const server = await startServer({
    home,
    script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }],
    agentArgs: ['-e', fixture('dialogs')],
  });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });

  await first.ok({ type: 'set_session_name', name: 'Ours' });
  await first.ok({ type: 'prompt', message: 'Hi' });
  await second.ok({ type: 'follow_up', message: 'And?' });
  expect(
    await first.next(({ type, followUp }) => type === 'queue_update' && (followUp as string[]).length === 1),
  ).toMatchObject({ followUp: ['And?'] });
  gate.open();
  await first.next('agent_settled');

  expect(await second.next('session_info_changed')).toMatchObject({ name: 'Ours' });
  expect(await second.next('agent_settled')).toMatchObject({ outcome: 'ok' });
});

const updatesOf = ({ records }: RemotePeer) =>
  records.filter(({ type }) => type === 'bash_execution_update').map(({ id, delta }) => ({ id, text: delta }));

const lastUpdate = ({ records }: RemotePeer) => records.filter(({ type }) => type === 'message_update').at(-1);

const syncedWith = (messages: readonly unknown[]) => (record: Record<string, unknown>) =>
  record['type'] === 'state_synced' && (record['messages'] as unknown[]).length === messages.length;
