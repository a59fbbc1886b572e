import { afterEach, expect, it } from 'vitest';
import { bash } from '../../support/agent/extensions.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { runTau } from '../../support/processes/program.ts';
import type { Target } from '../../support/server/attack-target.ts';

const cluster = testCluster();

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

// Under load a client of the other node may be closed before it has the end of its run.
const inSoak = it.runIf(process.env['SOAK']);

/** A new session of a node with a client on each of two nodes. */
async function newSession(a: Target, b: Target) {
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  const second = await b.connect({ session: sessionId });
  await second.find('state_synced');
  return { sessionId, clients: [first, second] as const };
}

inSoak(
  '[W169] a node that stops hands over idle sessions at once, others after their run, and aborts what takes too long',
  async () => {
    const { cwd } = newHome();
    const gate = newGate();
    const script = [
      { steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '^short', keep: true },
      { ...bash('sleep 600'), when: '^long', keep: true },
      { text: 'hello', when: '.', keep: true },
    ];
    const args = [...ONE_REPLICA, '--drain-seconds', '15'];
    const a = await startNode(cluster.server.url, 'a', { cwd, script, args });
    const b = await startNode(cluster.server.url, 'b', { cwd, script, args });
    const [idle, short, long] = [await newSession(a, b), await newSession(a, b), await newSession(a, b)];
    for (const { clients } of [short, long])
      await clients[1].ok({ type: 'prompt', message: clients === short.clients ? 'short' : 'long' });
    await long.clients[0].find('tool_execution_start');

    process.kill(a.pid, 'SIGTERM');
    for (const client of idle.clients) expect(await client.ended).toMatchObject({ code: 1012 });
    const moved = await b.connect({ session: idle.sessionId });
    await moved.run('two');
    const late = await b.connect({});
    await late.run('three');
    expect((await short.clients[1].ok({ type: 'get_state' })).isStreaming).toBe(true);
    gate.open();
    for (const client of short.clients) {
      expect(await client.ended).toMatchObject({ code: 1012 });
      expect(client.records.findLast(({ type }) => type === 'agent_settled')).toMatchObject({ outcome: 'ok' });
    }
    const continued = await b.connect({ session: short.sessionId });
    expect((await continued.find('state_synced'))['messages']).toHaveLength(4);
    await continued.run('four');
    for (const client of long.clients) {
      expect(await client.ended).toMatchObject({ code: 1012 });
      expect(client.records.findLast(({ type }) => type === 'agent_settled')).toMatchObject({ outcome: 'aborted' });
    }
    expect(await a.exitCode).toBe(143);
    const stored = await b.connect({ session: long.sessionId });
    const { messages } = (await stored.find('state_synced')) as unknown as { messages: { role: string }[] };
    expect(messages.slice(2).map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult']);
    expect(stored.records.filter(({ type }) => type === 'agent_settled')).toEqual([]);
    await stored.run('five');
  },
);

it('[W169] a node that stops closes its clients of sessions that other nodes serve', async () => {
  const { cwd } = newHome();
  const gate = newGate();
  const script = [
    { steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^short' },
    { text: 'hello', when: '.', keep: true },
  ];
  const a = await startNode(cluster.server.url, 'c', { cwd, script, args: ONE_REPLICA });
  const b = await startNode(cluster.server.url, 'd', { cwd, script, args: [...ONE_REPLICA, '--drain-seconds', '600'] });
  const { clients } = await newSession(a, b);
  await clients[1].ok({ type: 'prompt', message: 'short' });

  process.kill(b.pid, 'SIGTERM');

  expect(await clients[1].ended).toMatchObject({ code: 1012 });
  expect(await b.exitCode).toBe(143);
  gate.open();
  expect(await clients[0].find(({ type, outcome }) => type === 'agent_settled' && outcome === 'ok')).toBeTruthy();
});

it('[W146] a second node of the same name ends with one line, and the first is not disturbed', async () => {
  const { cwd } = newHome();
  const a = await startNode(cluster.server.url, 'twice', { cwd, args: ONE_REPLICA });
  const client = await a.connect({});
  await client.run('one');

  const args = ['serve', '--cluster', cluster.server.url, '--node', 'twice', ...ONE_REPLICA];
  const { code, stdout, stderr } = await runTau(newHome(), args);

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]*A node with the name twice is running: choose another one with --node\n$/);
  await client.run('two');
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});

it('[W146] a node that cannot listen on its port leaves its name to the next one', async () => {
  const { cwd } = newHome();
  const a = await startNode(cluster.server.url, 'first', { cwd, args: ONE_REPLICA });

  const args = ['serve', '--cluster', cluster.server.url, '--node', 'second', '--port', String(a.port), ...ONE_REPLICA];
  const { code, stderr } = await runTau(newHome(), args);

  expect(code).toBe(1);
  expect(stderr).toContain('it is in use');
  const { stdout } = await runTau(newHome(), ['cluster', 'nodes', cluster.server.url, ...ONE_REPLICA]);
  expect(stdout).toContain('first');
  expect(stdout).not.toContain('second');
});
