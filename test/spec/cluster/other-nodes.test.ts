import { Kvm } from '@nats-io/kv';
import { afterEach, expect, it } from 'vitest';
import { FencedLog } from '../../../src/server/cluster/log/fenced-log.ts';
import { NODES_BUCKET } from '../../../src/server/cluster/names.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { agentsOf, ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import type { TargetClient } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const start = (name: string, cwd: string, script?: readonly object[]) =>
  startNode(cluster.server.url, name, { cwd, args: ONE_REPLICA, ...(script ? { script } : {}) });

const settled = (runId: string) => (record: WireRecord) => record.type === 'agent_settled' && record['runId'] === runId;

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W145] an answer of many deltas reaches clients of two nodes as the same records, and each response its sender', async () => {
  const { cwd } = newHome();
  const steps = Array.from({ length: 250 }, (_, index) => ({ text: `word${index} ` }));
  const script = [
    { steps, when: '^many', keep: true },
    { text: 'hello', when: '.', keep: true },
  ];
  const [a, b] = [await start('a1', cwd, script), await start('b1', cwd, script)];
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  const second = await b.connect({ session: sessionId });
  await second.find('state_synced');
  expect([a, b].map((node) => agentsOf(node).length)).toEqual([1, 0]);

  const id = { any: ['json', 1.5, null] };
  second.send({ type: 'prompt', message: 'many', id });
  const isResponse = (record: WireRecord) => record.type === 'response' && record['command'] === 'prompt';
  const { id: received, data } = await second.find((one) => isResponse(one) && one['id'] !== undefined);
  expect(received).toEqual(id);
  const { runId } = data as { runId: string };
  for (const client of [first, second]) await client.find(settled(runId));

  const { seq: last } = await second.find('server_connected');
  const [one, other] = [first, second].map(({ records }) => records.filter(({ seq }) => Number(seq) > Number(last)));
  // Each client may get several deltas as one.
  expect(textOf(one)).toBe(steps.map(({ text }) => text).join(''));
  expect(textOf(other)).toBe(textOf(one));
  const isWhole = ({ type }: WireRecord) => type !== 'message_update';
  expect(other?.filter(isWhole)).toEqual(one?.filter(isWhole));
  expect(first.records.filter((record) => isResponse(record))).toHaveLength(1);
});

/** The text of all deltas. */
const textOf = (records: readonly WireRecord[] = []) =>
  records.map(({ assistantMessageEvent }) => (assistantMessageEvent as { delta?: string })?.delta ?? '').join('');

it('[W145 W147] a client of a third node switches, forks and begins sessions of others; the fork outlives its node', async () => {
  const { cwd } = newHome();
  const [a, b, c] = [await start('a2', cwd), await start('b2', cwd), await start('c2', cwd)];
  const [onA, onB] = [await a.connect({}), await b.connect({})];
  await onA.run('one');
  await onB.run('two');
  const [x, y] = [(await onA.location()).sessionId, (await onB.location()).sessionId];
  const client = await c.connect({ session: x });

  const { sessions } = await client.ok({ type: 'list_sessions' });
  const { path } = sessions.find(({ id }: { id: string }) => id === y);
  await client.ok({ type: 'switch_session', sessionPath: path });
  await expect
    .poll(() => typesOf(client).slice(-3))
    .toEqual(['response switch_session', 'server_connected', 'state_synced']);
  const [entry] = (await client.ok({ type: 'get_fork_messages' })).messages;
  await client.run('three');
  const { sessionId: fork } = await client.ok({ type: 'fork', entryId: entry.entryId });
  expect((await auditLogs([cluster.server.url])).get(fork)?.entries[0]).toMatchObject({ type: 'session', id: fork });
  await client.ok({ type: 'new_session' });
  await client.run('four');
  process.kill(a.pid, 'SIGKILL');
  process.kill(b.pid, 'SIGKILL');

  const other = await c.connect({ session: fork });
  await other.find('state_synced');
  await other.run('five');
});

it('[W140] a message whose run ended with the agent runs when it is sent again', async () => {
  const { cwd } = newHome();
  const gate = newGate();
  const a = await start('a6', cwd, [{ steps: [{ await: gate.path }, { text: 'Now.' }], when: '.', keep: true }]);
  const client = await a.connect({});
  const prompt = { type: 'prompt', message: 'Hi', clientMessageId: 'mine' };
  await client.ok(prompt);
  await client.find('message_end');
  process.kill(agentsOf(a)[0] ?? Number.NaN, 'SIGKILL');
  await client.find('agent_settled');
  gate.open();

  const { runId, duplicate } = await client.ok(prompt);

  expect(duplicate).toBe(true);
  expect(await client.find(settled(runId))).toMatchObject({ outcome: 'ok' });
  expect((await client.ok({ type: 'get_messages' })).messages).toHaveLength(2);
});

/** The types of the records of a client, with the commands of its responses. */
const typesOf = ({ records }: TargetClient) =>
  records.map((record) => (record.type === 'response' ? `response ${record['command']}` : record.type));

it('[W147] a client switches to a session that no node serves from one that another node serves', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('a3', cwd), await start('b3', cwd)];
  const first = await a.connect({});
  await first.run('one');
  const { sessionId: x, sessionFile } = await first.location();
  await first.ok({ type: 'new_session' });
  await first.run('two');
  const { sessionId: y } = await first.ok({ type: 'get_state' });
  const client = await b.connect({ session: y });
  await client.find('state_synced');

  // The path is that of the other node.
  const { sessionId } = await client.ok({ type: 'switch_session', sessionPath: sessionFile });

  expect(sessionId).toBe(x);
  expect((await client.ok({ type: 'get_messages' })).messages).toHaveLength(2);
});

it('[W147] a session of no node is renamed in its log, also by a node with little room', async () => {
  const { cwd } = newHome();
  const args = [...ONE_REPLICA, '--max-sessions', '2'];
  const a = await startNode(cluster.server.url, 'a7', { cwd, args });
  const first = await a.connect({});
  await first.run('one');
  const { sessionId, sessionFile } = await first.location();
  await first.ok({ type: 'new_session' });
  await first.run('two');

  await first.ok({ type: 'rename_session', sessionPath: sessionFile, name: 'Renamed' });

  const { sessions } = await first.ok({ type: 'list_sessions' });
  expect(sessions.find(({ id }: { id: string }) => id === sessionId)).toMatchObject({ name: 'Renamed' });
  const { entries = [] } = (await auditLogs([cluster.server.url])).get(sessionId) ?? {};
  expect(entries.at(-1)).toMatchObject({ type: 'session_info', name: 'Renamed' });
});

it('[W147] a session that is deleted through one node is gone on all, until it is restored', async () => {
  const { cwd } = newHome();
  const [a, b, c] = [await start('a4', cwd), await start('b4', cwd), await start('c4', cwd)];
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  first.socket.terminate();
  const client = await b.connect({});
  await client.run('two');
  const { sessions } = await client.ok({ type: 'list_sessions' });
  const { path } = sessions.find(({ id }: { id: string }) => id === sessionId);

  // The node of the closed client may not know yet that it has left.
  let trashPath = '';
  await expect
    .poll(async () => {
      const response = await client.request({ type: 'delete_session', sessionPath: path });
      ({ trashPath = '' } = (response['data'] ?? {}) as { trashPath?: string });
      return trashPath;
    })
    .not.toBe('');
  for (const node of [a, b, c]) {
    const refused = await node.connect({ session: sessionId });
    expect(await refused.ended).toMatchObject({ code: 4404 });
  }
  await client.ok({ type: 'restore_session', trashPath });
  for (const node of [a, b, c]) {
    const back = await node.connect({ session: sessionId });
    expect((await back.find('state_synced'))['messages']).toHaveLength(2);
  }
});

it('[W145] a session of a node with another protocol number is refused with a sentence, and nothing else fails', async () => {
  const { cwd } = newHome();
  const a = await start('a5', cwd);
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  await a.stop();
  const { connection } = cluster;
  const identity = { name: 'future', incarnation: 'some-other' };
  const bucket = await new Kvm(connection.js).open(NODES_BUCKET);
  await bucket.put('future', JSON.stringify({ incarnation: identity.incarnation, version: '9.9.9', protocol: 2 }));
  const log = new FencedLog(connection, sessionId, identity);
  await log.claim(await log.readLast());

  const b = await start('b5', cwd);
  const refused = await b.connect({ session: sessionId });
  const reason = 'Node future serves the session with another version of tau: 9.9.9';
  expect(await refused.ended).toMatchObject({ code: 1013, reason });
  const client = await b.connect({});
  await client.run('two');
  const { sessions } = await client.ok({ type: 'list_sessions' });
  const { path } = sessions.find(({ id }: { id: string }) => id === sessionId);
  expect(await client.refused({ type: 'switch_session', sessionPath: path })).toMatchObject({ error: reason });

  await bucket.delete('future');
  const opened = await b.connect({ session: sessionId });
  expect((await opened.find('state_synced'))['messages']).toHaveLength(2);
});
