import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { AUTH_BUCKET, bucketStream } from '../../../src/server/cluster/names.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { auditLogs, auditReceived } from '../../support/cluster/audit.ts';
import { startNode } from '../../support/cluster/cluster-nodes.ts';
import { NatsCluster } from '../../support/cluster/nats-cluster.ts';
import { runTau } from '../../support/processes/program.ts';
import { TARGET_TOKEN, type Target, type TargetClient } from '../../support/server/attack-target.ts';
import { storeShortSession } from '../../support/sessions/stored-session.ts';

// No lease ends while the servers elect a leader, however slow the machine is.
const LONG_KEY_LIFE_MS = 120_000;
const SHORT_KEY_LIFE_MS = 8000;

// Servers that were killed sometimes need a minute to have all records again.
const SERVERS_MS = 240_000;

let cluster: NatsCluster;

beforeAll(async () => {
  cluster = await NatsCluster.start(LONG_KEY_LIFE_MS);
}, SERVERS_MS);

// A test begins with all servers, whatever became of the one before it.
beforeEach(async () => {
  await cluster.startAll();
  await cluster.whenCurrent(SERVERS_MS / 2);
  await cluster.setKeyLife(LONG_KEY_LIFE_MS);
}, SERVERS_MS);

afterAll(() => cluster.stop());

const start = (name: string, cwd: string, script?: readonly object[]) =>
  startNode(cluster.urls.join(), name, { cwd, ...(script ? { script } : {}) });

/** A client in a session of its own at each of these nodes. */
function connectTo(nodes: readonly Target[]): Promise<TargetClient[]> {
  return Promise.all(
    nodes.map(async (node) => {
      const client = await node.connect({ stream: 'delta' });
      await client.find('state_synced');
      return client;
    }),
  );
}

/** Sends a prompt and waits until its run has ended well. */
async function runWell(client: TargetClient, message: string): Promise<void> {
  const { runId } = await client.ok({ type: 'prompt', message });
  const end = await client.find((record) => record.type === 'agent_settled' && record['runId'] === runId);
  expect(end).toMatchObject({ outcome: 'ok' });
}

/** Checks that each client stayed in its session, which had one owner, and that all it received is in the logs. */
async function expectUndisturbed(clients: readonly TargetClient[]): Promise<void> {
  const logs = await auditLogs(cluster.urls);
  for (const { records, socket } of clients) {
    expect(socket.readyState).toBe(socket.OPEN);
    auditReceived(logs, records);
    const sessionId = String(records.find(({ type }) => type === 'server_connected')?.['sessionId']);
    expect(logs.get(sessionId)?.records.filter(({ kind }) => kind === 'claim')).toHaveLength(1);
  }
}

// Servers that are killed again and again are far behind for minutes at times.
const inSoak = it.runIf(process.env['SOAK']);

it(
  '[W176] runs go on by themselves when the server that leads the log is killed',
  async () => {
    const { cwd } = newHome();
    const gate = newGate();
    const script = [
      {
        steps: [
          { text: 'Well, ' },
          { await: gate.path },
          { toolCall: { name: 'bash', arguments: { command: 'true' } } },
        ],
      },
      { text: 'done', when: '.', keep: true },
    ];
    const [a, b] = [await start('a', cwd, script), await start('b', cwd, script)];
    const clients = await connectTo([a, a, b, b]);
    const runs = clients.map((client) => runWell(client, 'go'));
    await Promise.all(clients.map((client) => client.find('message_update')));

    const leader = await cluster.leader();
    await leader.end('SIGKILL');
    gate.open();

    await Promise.all(runs);
    await expectUndisturbed(clients);
  },
  SERVERS_MS,
);

it(
  '[W150 W153] tokens are created and revoked on all nodes also after the server that leads them was killed',
  async () => {
    const { cwd } = newHome();
    const nodes = [await start('ta', cwd), await start('tb', cwd)];
    /** Runs `tau token`, again while it gets no answer: a leader may be elected. */
    const tauToken = async (...args: string[]): Promise<string> => {
      for (;;) {
        const { stdout, stderr } = await runTau(newHome(), ['token', ...args, '--cluster', cluster.urls.join()]);
        if (!/do not (respond|answer)|No NATS server/.test(stderr)) return stdout.trim();
      }
    };
    const statuses = (token: string) =>
      Promise.all(
        nodes.map(
          async (node) => (await node.get('/api/me', { headers: { authorization: `Bearer ${token}` } })).status,
        ),
      );
    const known = (token: string) => expect.poll(() => statuses(token), { timeout: 20_000 });
    const token = await tauToken('create', '--name', 'before');
    await known(token).toEqual([200, 200]);
    const clients = await Promise.all(nodes.map((node) => node.connect({ token })));
    for (const client of clients) await client.location();

    await (await cluster.leader(bucketStream(AUTH_BUCKET))).end('SIGKILL');
    expect(await statuses(token)).toEqual([200, 200]);
    const later = await tauToken('create', '--name', 'after');
    await tauToken('revoke', 'before');

    const ended = { code: 1008, reason: 'Invalid authentication token' };
    expect(await Promise.all(clients.map((client) => client.ended))).toEqual([ended, ended]);
    await known(token).toEqual([401, 401]);
    await known(later).toEqual([200, 200]);
  },
  SERVERS_MS,
);

inSoak(
  '[W176] runs go on by themselves while the servers are restarted one after another',
  async () => {
    const { cwd } = newHome();
    const [a, b] = [await start('c', cwd), await start('d', cwd)];
    const clients = await connectTo([a, b]);
    let isOver = false;
    const talk = clients.map(async (client) => {
      for (let count = 0; !isOver; count++) await runWell(client, `message ${count}`);
    });

    for (const member of cluster.members) {
      await member.end('SIGTERM');
      await cluster.leader();
      await member.start();
      await cluster.whenCurrent();
    }

    isOver = true;
    await Promise.all(talk);
    await expectUndisturbed(clients);
  },
  SERVERS_MS,
);

inSoak(
  '[W154 W155] without a majority of the NATS servers each command names that, and check the servers to start',
  async () => {
    const [here, ...others] = cluster.members;
    await Promise.all(others.map((member) => member.end('SIGKILL')));
    const home = newHome();
    const path = storeShortSession(home, 'kept', 'hello');
    const sentence = 'The NATS servers do not answer: a majority of them must run and elect a leader';
    const run = (verb: string, ...args: readonly string[]) =>
      runTau(home, ['cluster', verb, cluster.urls.join(), ...args]);

    for (const [verb, ...args] of [['nodes'], ['import', path]] as const) {
      expect(await run(verb, ...args)).toMatchObject({ code: 1, stdout: '', stderr: `tau: ${sentence}\n` });
    }
    const { code, stdout } = await run('check');
    expect(code).toBe(1);
    expect(stdout).toContain(`No NATS server answers at ${others[0]?.url}`);
    expect(stdout).toMatch(/^warning +servers +n\d, n\d not checked: start them, or correct their addresses$/m);
    // Before the servers notice the loss they accept nothing; later they refuse.
    expect(stdout).toMatch(new RegExp(`^error +appends +(${sentence}|The log accepts no records within 15 s)$`, 'm'));
    expect((await runTau(home, ['cluster', 'check', here?.url ?? ''])).stdout).toContain('name their addresses too');
  },
  SERVERS_MS,
);

it(
  '[W150 W155 W156] the commands of a cluster work at once after one of three servers was killed',
  async () => {
    const home = newHome();
    await start('k', home.cwd);
    const urls = cluster.urls.join();
    const tau = async (...args: string[]) => {
      const { code, stdout, stderr } = await runTau(home, args);
      expect({ args, code }, stderr).toEqual({ args, code: 0 });
      return stdout;
    };
    const [, , last] = cluster.members;
    await last?.end('SIGKILL');

    for (const name of ['one', 'two', 'three']) {
      expect(await tau('cluster', 'nodes', urls)).toMatch(/^k /m);
      await tau('token', 'create', '--name', name, '--cluster', urls);
      expect(await tau('token', 'list', '--cluster', urls)).toContain(name);
      await tau('token', 'revoke', name, '--cluster', urls);
      const path = storeShortSession(home, `after-${name}`, 'hello');
      expect(await tau('cluster', 'import', urls, '--node', 'k', path)).toBe(`Imported: ${path}\n`);
    }
  },
  SERVERS_MS,
);

it(
  '[W177] without a majority of the servers nothing is acknowledged, and nodes work again when it is back',
  async () => {
    await cluster.setKeyLife(SHORT_KEY_LIFE_MS);
    const { cwd } = newHome();
    const a = await start('e', cwd);
    const [first] = (await connectTo([a])) as [TargetClient];
    await first.run('one');
    const { sessionId } = await first.location();
    const [, ...others] = cluster.members;
    await Promise.all(others.map((member) => member.end('SIGKILL')));

    const late = await a.connect({});
    const clientMessageId = randomUUID();
    const response = first.request({ type: 'prompt', message: 'two', clientMessageId }).catch(() => undefined);

    expect(await first.ended).toMatchObject({ code: 1012 });
    expect(await response).toBeUndefined();
    expect(await late.ended).toMatchObject({ code: 1013 });
    expect(await (await a.connect({ session: sessionId })).ended).toMatchObject({ code: 1013 });
    expect(await a.get('/readyz')).toMatchObject({ status: 503 });

    await cluster.startAll();
    await cluster.whenCurrent();
    await expect.poll(async () => (await a.get('/readyz')).status).toBe(200);
    const second = await a.connect({ session: sessionId });
    // The message without a response may be stored.
    const { messages } = await second.next('state_synced');
    expect(messages.slice(0, 2)).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
    await second.ok({ type: 'prompt', message: 'two', clientMessageId });
    await second.find('agent_settled');
    const logs = await auditLogs(cluster.urls);
    for (const { records } of [first, second]) auditReceived(logs, records);
    const stored = logs.get(sessionId)?.entries.filter((entry) => entry.clientMessageId === clientMessageId);
    expect(stored).toHaveLength(1);
  },
  SERVERS_MS,
);

inSoak(
  '[W177 W178] all servers are killed at once: nothing acknowledged is lost, and a node that starts waits for them',
  async () => {
    const { cwd } = newHome();
    const [a, b] = [await start('f', cwd), await start('g', cwd)];
    const clients = await connectTo([a, a, b, b]);
    let isOver = false;
    const talk = clients.map(async (client) => {
      for (let count = 0; !isOver; count++) await runWell(client, `message ${count}`);
    });
    await Promise.all(clients.map((client) => client.find('agent_settled')));

    await cluster.stop();
    // Not a server of NATS, but it shows that the node tries to connect.
    const { port } = new URL(cluster.urls[0] ?? '');
    const listener = createServer((socket) => socket.destroy()).listen(Number(port), '127.0.0.1');
    const starting = start('h', cwd);
    await once(listener, 'connection');
    await new Promise((resolve) => listener.close(resolve));
    await cluster.startAll();

    const c = await starting;
    expect((await c.get('/readyz', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } })).status).toBe(200);
    isOver = true;
    await Promise.all(talk);
    await expectUndisturbed(clients);
  },
  SERVERS_MS,
);
