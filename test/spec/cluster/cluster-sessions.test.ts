import { afterEach, expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { startNatsServer } from '../../support/cluster/nats-server.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { runTau } from '../../support/processes/program.ts';
import { TARGET_TOKEN, type TargetClient } from '../../support/server/attack-target.ts';

const cluster = testCluster();

/** Starts a node whose new sessions are in this folder. */
const start = (name: string, cwd: string) => startNode(cluster.server.url, name, { cwd, args: ONE_REPLICA });

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W143] a session of one node is listed and continued by another after SIGTERM and after SIGKILL', async () => {
  const { cwd } = newHome();
  const a = await start('a', cwd);
  const first = await a.connect({});
  const connected = await first.next('server_connected');
  const id = String(connected['sessionId']);
  await first.run('one');
  await a.stop();

  const b = await start('b', cwd);
  const { body } = await b.get('/api/sessions', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } });
  const { sessions } = JSON.parse(body) as { sessions: object[] };
  expect(sessions).toMatchObject([{ id, firstMessage: 'one' }]);
  const second = await b.connect({ session: id });
  const synced = await second.next('state_synced');
  expect(synced['messages']).toHaveLength(2);
  await second.run('two');
  process.kill(b.pid, 'SIGKILL');

  const c = await start('c', cwd);
  const third = await c.connect({ session: id });
  expect((await third.next('state_synced'))['messages']).toHaveLength(4);
});

it('[W147] a fork, a rename, the trash and a way out of it are the same on every node', async () => {
  const { cwd } = newHome();
  const a = await start('d', cwd);
  const first = await a.connect({});
  await first.run('one');
  const [entry] = (await first.ok({ type: 'get_fork_messages' })).messages;
  const { sessionFile: original } = await first.location();
  await first.ok({ type: 'fork', entryId: entry.entryId });
  await first.run('two');
  await first.ok({ type: 'rename_session', sessionPath: original, name: 'The original' });
  const { sessionId: forked } = await first.ok({ type: 'get_state' });
  await a.stop();

  const b = await start('e', cwd);
  const second = await b.connect({ session: forked });
  const listed = async () =>
    (await second.ok({ type: 'list_sessions', cwd })).sessions.map(({ id, name }: { id: string; name?: string }) => [
      id,
      name,
    ]);
  const { sessions } = await second.ok({ type: 'list_sessions', cwd });
  const other = sessions.find(({ id }: { id: string }) => id !== forked);
  expect(other).toMatchObject({ name: 'The original', firstMessage: 'one' });
  expect((await second.find('state_synced'))['messages']).toHaveLength(2);
  const { trashPath } = await second.ok({ type: 'delete_session', sessionPath: other.path });
  expect(await listed()).toEqual([[forked, undefined]]);
  expect(await second.refused({ type: 'switch_session', sessionPath: other.path })).toMatchObject({
    code: 'session_not_found',
  });
  const { sessionPath } = await second.ok({ type: 'restore_session', trashPath });
  await second.ok({ type: 'switch_session', sessionPath });
  expect((await second.ok({ type: 'get_state' })).sessionId).toBe(other.id);
  expect((await second.ok({ type: 'get_messages' })).messages).toHaveLength(2);
});

it('[W145] clients of two nodes are in one session: same records, own responses, one agent', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('f', cwd), await start('g', cwd)];
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();

  const second = await b.connect({ session: sessionId, stream: 'cumulative' });
  expect((await second.next('state_synced')).messages).toHaveLength(2);
  const { runId } = await second.ok({ type: 'prompt', message: 'two', id: 'a-7' });
  const settled = (record: WireRecord) => record.type === 'agent_settled' && record['runId'] === runId;
  const [one, other] = [await first.find(settled), await second.find(settled)];
  expect(one).toEqual(other);
  expect((await first.ok({ type: 'get_messages' })).messages).toEqual(
    (await second.ok({ type: 'get_messages' })).messages,
  );
  const { sessionId: forked } = await forkFirst(second);
  expect(forked).not.toBe(sessionId);
  expect((await second.ok({ type: 'get_state' })).sessionId).toBe(forked);
  await second.ok({ type: 'switch_session', sessionPath: await pathOf(second, sessionId) });
  expect((await second.ok({ type: 'get_state' })).messageCount).toBe(4);
  expect((await first.ok({ type: 'get_state' })).sessionId).toBe(sessionId);
});

it('[W143] a client of another node connects again when the node of its session dies', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('h', cwd), await start('i', cwd)];
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  const second = await b.connect({ session: sessionId });
  await second.next('state_synced');

  process.kill(a.pid, 'SIGKILL');

  expect(await second.ended).toMatchObject({ code: 1012 });
  const third = await b.connect({ session: sessionId });
  expect((await third.next('state_synced')).messages).toHaveLength(2);
  await third.run('two');
});

it('[W140] clients with ids, and sessions with only a shell command, are on every node', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('j', cwd), await start('k', cwd)];
  const first = await a.connect({ ids: 'true' });
  const { sessionId } = await first.location();
  // A session that holds nothing yet is found through the same node, and through others.
  for (const node of [a, b]) await (await node.connect({ session: sessionId })).next('state_synced');
  await first.ok({ type: 'bash', command: 'echo kept' });
  await first.run('one');
  await a.stop();

  const second = await b.connect({ session: sessionId });
  expect((await second.next('state_synced')).messages).toMatchObject([
    { role: 'bashExecution' },
    { role: 'user' },
    { role: 'assistant' },
  ]);
});

async function forkFirst(client: TargetClient): Promise<{ sessionId: string }> {
  const [entry] = (await client.ok({ type: 'get_fork_messages' })).messages;
  await client.ok({ type: 'fork', entryId: entry.entryId });
  return client.ok({ type: 'get_state' });
}

async function pathOf(client: TargetClient, sessionId: string): Promise<string> {
  const { sessions } = await client.ok({ type: 'list_sessions' });
  return sessions.find(({ id }: { id: string }) => id === sessionId).path;
}

it.each([
  ['a server that is not there', ['--cluster', 'nats://127.0.0.1:1', '--node', 'x'], 'No NATS server answers at'],
  ['a name that is no node', ['--cluster', 'nats://127.0.0.1:1', '--node', 'x.y'], '--node takes letters'],
  ['a secret in an address', ['--cluster', 'nats://u:p@127.0.0.1:1'], 'Give the credentials for NATS with'],
])('[W146] tau cluster and tau serve --cluster name what is wrong: %s', async (_, args, message) => {
  const check = args[3] === 'x' ? ['cluster', 'check', args[1] ?? ''] : ['serve', ...args];
  const { code, stdout, stderr } = await runTau(newHome(), check);

  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain(message);
  expect(stdout + stderr).not.toContain('u:p');
});

it('[W146] a log stream that could lose records is refused with what to do', async () => {
  const other = await startNatsServer();
  const missing = await runTau(newHome(), ['serve', '--cluster', other.url, '--node', 'x', ...ONE_REPLICA]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('create it with tau cluster init') });
  await runTau(newHome(), ['cluster', 'init', other.url, '--max-bytes', '64M', ...ONE_REPLICA]);
  const single = await runTau(newHome(), ['serve', '--cluster', other.url, '--node', 'x']);
  expect(single).toMatchObject({ code: 1, stderr: expect.stringContaining('allow it with --cluster-replicas 1') });
  await other.stop();
});
