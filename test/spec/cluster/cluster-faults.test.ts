import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { type AuditedLogs, auditFile, auditLogs, auditReceived } from '../../support/cluster/audit.ts';
import { ONE_REPLICA } from '../../support/cluster/cluster-nodes.ts';
import { startFaultyNode } from '../../support/cluster/faulty-node.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { ReferenceClient } from '../../support/faults/reference-client.ts';
import { TARGET_TOKEN, type Target, type TargetClient } from '../../support/server/attack-target.ts';

// A dead node is recognised, and a node without a lease stops, in a fraction of the usual time.
const cluster = testCluster({ keyLifeMs: 8000 });

const SCRIPT = [
  { steps: [{ text: 'Half of it, ' }, { stall: true }], when: '^wait', keep: true },
  {
    steps: [{ toolCall: { name: 'bash', arguments: { command: 'sleep 60; touch done' } } }],
    when: '^work',
    keep: true,
  },
  { steps: [{ toolCall: { name: 'ask', arguments: {} } }], when: '^ask', keep: true },
  { text: 'hello', when: '.', keep: true },
];

const ASK_TOOL = `
import { Type } from 'typebox';
export default (pi) => {
  pi.registerTool({
    name: 'ask', label: 'Ask', description: 'Asks the user', parameters: Type.Object({}),
    async execute(id, params, signal, onUpdate, ctx) {
      const answer = await ctx.ui.select('Which one?', ['this', 'that'], { signal });
      return { content: [{ type: 'text', text: String(answer) }], details: {} };
    },
  });
};`;

let clients: TargetClient[] = [];

afterEach(() => {
  clients = [];
});

/** Starts a node with an agent folder of its own, whose sessions are in this folder. */
function start(name: string, cwd: string) {
  const home = newHome();
  userExtension(home, 'ask.ts', ASK_TOOL);
  return startFaultyNode(cluster.server.url, name, { home, cwd, script: SCRIPT, args: ONE_REPLICA });
}

/** Connects a client whose records are audited. */
async function connect(node: Target, query: Record<string, string> = {}): Promise<TargetClient> {
  const client = await node.connect({ stream: 'delta', ...query });
  clients.push(client);
  return client;
}

/** Connects with the session and the cursor of a client that has lost its connection. */
function reconnect(node: Target, client: TargetClient): Promise<TargetClient> {
  const connected = client.records.find(({ type }) => type === 'server_connected');
  const seqs = client.records.map(({ seq }) => Number(seq ?? 0));
  const { sessionId: session, epoch } = connected as WireRecord & { sessionId: string; epoch: string };
  return connect(node, { session, epoch, after: String(Math.max(...seqs)) });
}

/** Checks the logs, and what the clients received. */
async function audit(): Promise<AuditedLogs> {
  const logs = await auditLogs([cluster.server.url]);
  for (const { records } of clients) auditReceived(logs, records);
  return logs;
}

const isHalfText = ({ type, assistantMessageEvent }: WireRecord) =>
  type === 'message_update' && JSON.stringify(assistantMessageEvent).includes('Half');

const settledIn = ({ records }: TargetClient) => records.filter(({ type }) => type === 'agent_settled');

/** The ends of runs before the first snapshot of a client, and the messages in it. */
async function gapOf(client: TargetClient): Promise<{ ends: WireRecord[]; messages: unknown[] }> {
  expect(await client.next('server_connected')).toMatchObject({ resume: 'gap' });
  const { messages } = await client.next('state_synced');
  const before = client.records.slice(
    0,
    client.records.findIndex(({ type }) => type === 'state_synced'),
  );
  return { ends: before.filter(({ type }) => type === 'agent_settled'), messages };
}

it('[W170] a client of another node comes back by itself when the node of an idle session is killed, and misses nothing', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('a', cwd), await start('b', cwd)];
  const first = await connect(a);
  await first.run('one');
  const { sessionId } = await first.location();
  const reconnection = { maxRetries: 1000, initialDelayMs: 30, maxDelayMs: 300, backoffMultiplier: 2 };
  const second = new ReferenceClient(`${b.socketUrl}?session=${sessionId}&token=${TARGET_TOKEN}`, { reconnection });
  await second.session.getState();

  a.kill();

  await second.waitUntil('the session is on the other node', () => second.greetings.length === 2);
  await a.ended();
  const { runId } = await second.session.call('prompt', { message: 'two' });
  await second.waitUntil('the run has ended', () => second.isSettled(String(runId)));
  expect(second.view.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  const log = (await audit()).get(sessionId);
  if (log) auditFile(log, b.home);
  expect(log?.entries.filter(({ type }) => type === 'message')).toHaveLength(4);
});

it('[W171] a run that the death of its node interrupts ends once for each client, and is not run again', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('c', cwd), await start('d', cwd)];
  const first = await connect(a);
  const { sessionId } = await first.location();
  await first.run('one');
  const second = await connect(b, { session: sessionId });
  await second.next('state_synced');
  const { runId } = await first.ok({ type: 'prompt', message: 'wait', clientMessageId: 'm-1' });
  await Promise.all([first.find(isHalfText), second.find(isHalfText)]);

  a.kill();

  expect(await second.ended).toMatchObject({ code: 1012 });
  await first.ended;
  const end = { runId, outcome: 'error', errorCode: 'interrupted', clientMessageIds: ['m-1'] };
  for (const lost of [first, second]) {
    const client = await reconnect(b, lost);
    const { ends, messages } = await gapOf(client);
    expect(ends).toMatchObject([end]);
    expect(messages).toMatchObject([{}, {}, { role: 'user' }]);
    expect(await client.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
    expect(settledIn(client)).toHaveLength(1);
  }
  await a.ended();
  const log = (await audit()).get(sessionId);
  expect(log?.entries.filter(({ clientMessageId }) => clientMessageId === 'm-1')).toHaveLength(1);
});

it('[W171] a run ends once for each client although the next owner is killed as well, before a client came back', async () => {
  const { cwd } = newHome();
  const [a, b, c] = [await start('e', cwd), await start('f', cwd), await start('g', cwd)];
  const first = await connect(a);
  const { sessionId } = await first.location();
  const second = await connect(c, { session: sessionId });
  const { runId } = await first.ok({ type: 'prompt', message: 'wait', clientMessageId: 'm-1' });
  await Promise.all([first.find(isHalfText), second.find(isHalfText)]);
  a.kill();
  await Promise.all([first.ended, second.ended]);
  void b.connect({ session: sessionId }).catch(() => {});
  const claims = async () =>
    (await auditLogs([cluster.server.url])).get(sessionId)?.records.filter(({ kind }) => kind === 'claim') ?? [];
  await expect.poll(async () => (await claims()).at(-1)?.writer.name).toBe('f');

  b.kill();

  for (const lost of [first, second]) {
    const client = await reconnect(c, lost);
    const { ends } = await gapOf(client);
    expect(ends).toMatchObject([{ runId, errorCode: 'interrupted', clientMessageIds: ['m-1'] }]);
    await client.ok({ type: 'ping' });
    expect(settledIn(client)).toHaveLength(1);
  }
  await Promise.all([a.ended(), b.ended()]);
  await audit();
});

it('[W172] the tools of a node that died end with it, and their calls have a failed result, once', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('h', cwd), await start('i', cwd)];
  const first = await connect(a);
  const { sessionId } = await first.location();
  await first.ok({ type: 'prompt', message: 'work', clientMessageId: 'm-2' });
  await first.find('tool_execution_start');

  a.kill();

  await first.ended;
  const second = await reconnect(b, first);
  const { messages } = await gapOf(second);
  expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'toolResult', isError: true }]);
  await a.ended();
  expect(existsSync(join(cwd, 'done'))).toBe(false);
  expect(await second.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
  const again = await second.ok({ type: 'prompt', message: 'work', clientMessageId: 'm-2' });
  expect(again).toMatchObject({ duplicate: true, disposition: 'handled' });
  expect(second.records.filter(({ type }) => type === 'tool_execution_start')).toEqual([]);
  await second.run('next');
  const log = (await audit()).get(sessionId);
  expect(log?.entries.filter(({ message }) => message?.role === 'toolResult')).toHaveLength(1);
});

it('[W173] messages that were queued on a node that died are queued on the next one, in order, and can be changed', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('j', cwd), await start('k', cwd)];
  const first = await connect(a);
  await first.ok({ type: 'prompt', message: 'wait' });
  await first.find(isHalfText);
  const steered = await first.ok({ type: 'steer', message: 'steered' });
  const followUps = [];
  for (const message of ['later 1', 'later 2']) followUps.push(await first.ok({ type: 'follow_up', message }));
  const [later, last] = followUps;

  a.kill();

  await first.ended;
  const second = await reconnect(b, first);
  await gapOf(second);
  const queue = async () => (await second.ok({ type: 'get_state' })).queuedMessages;
  expect(await queue()).toMatchObject([
    { id: steered.queueId, kind: 'steer', text: 'steered' },
    { id: later.queueId, kind: 'followUp', text: 'later 1' },
    { id: last.queueId, kind: 'followUp', text: 'later 2' },
  ]);
  await second.ok({ type: 'edit_queued', queueId: later.queueId, message: 'changed' });
  await second.ok({ type: 'remove_queued', queueId: last.queueId });
  expect(await queue()).toMatchObject([{ text: 'steered' }, { text: 'changed' }]);
  expect(await second.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
  await a.ended();
  await audit();
});

it('[W174] a dialog ends with the node that opened it, and the run that waited for it has ended', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('l', cwd), await start('m', cwd)];
  const first = await connect(a);
  const { sessionId } = await first.location();
  const second = await connect(b, { session: sessionId });
  const { runId } = await first.ok({ type: 'prompt', message: 'ask' });
  await second.find('extension_ui_request');

  a.kill();

  await second.ended;
  const third = await reconnect(b, second);
  expect((await gapOf(third)).ends).toMatchObject([{ runId, errorCode: 'interrupted' }]);
  expect(await third.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingUi: [] });
  expect(third.records.filter(({ type }) => type === 'extension_ui_request')).toEqual([]);
  await a.ended();
  await audit();
});

it('[W175] a node that was stopped for longer than its lease appends nothing when it continues, and ends its agents', async () => {
  const { cwd } = newHome();
  const [a, b] = [await start('n', cwd), await start('o', cwd)];
  const first = await connect(a);
  const { sessionId } = await first.location();
  await first.ok({ type: 'prompt', message: 'wait' });
  await first.find(isHalfText);
  const agents = await a.agents();
  expect(agents).toHaveLength(1);
  await a.signalAll('SIGSTOP');

  const second = await connect(b, { session: sessionId });
  await second.find('state_synced');
  await second.run('two');
  await a.signalAll('SIGCONT');

  expect(await first.ended).toMatchObject({ code: 1012 });
  await expect.poll(a.agents).toEqual([]);
  await expect.poll(async () => (await a.get('/readyz')).status).toBe(200);
  const third = await reconnect(a, first);
  expect((await gapOf(third)).ends).toMatchObject([{ errorCode: 'interrupted' }, { outcome: 'ok' }]);
  await third.run('three');
  const log = (await audit()).get(sessionId);
  expect(log?.records.filter(({ kind }) => kind === 'claim').map(({ writer }) => writer.name)).toEqual(['n', 'o']);
  expect(log?.entries.flatMap(({ message }) => (message?.role === 'user' ? message.content[0].text : []))).toEqual([
    'wait',
    'two',
    'three',
  ]);
});
