import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kvm } from '@nats-io/kv';
import { afterEach, expect, it } from 'vitest';
import { INDEX_BUCKET, NODES_BUCKET } from '../../../src/server/cluster/names.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { TARGET_TOKEN, type Target, type TargetClient, writeTokensFile } from '../../support/server/attack-target.ts';

// A renewal takes so long that only changes of their own reach the other nodes in time.
const cluster = testCluster({ keyLifeMs: 240_000 });

const WAIT_MS = { timeout: 20_000 };

// Sessions of each node in each of two folders. They are made by real agents.
const SESSIONS_PER_FOLDER = process.env['SOAK'] ? 10 : 4;
const SESSIONS_MS = 120_000;

const GUEST_TOKEN = 'the-token-of-a-guest-0123456789';

interface Listed {
  readonly id: string;
  readonly status?: string;
}

interface Page {
  readonly sessions: readonly Listed[];
  readonly nextCursor?: string;
}

/** All pages of a list over HTTP. */
async function pagesOf(node: Target, limit: number, token = TARGET_TOKEN): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor === undefined ? {} : { cursor }) });
    const { body } = await node.get(`/api/sessions?${query}`, { headers: { authorization: `Bearer ${token}` } });
    const page = JSON.parse(body) as Page;
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

const idsOf = (pages: readonly Page[]) => pages.flatMap(({ sessions }) => sessions.map(({ id }) => id));

/** All pages of a list over a WebSocket. */
async function idsThrough(client: TargetClient, limit: number): Promise<readonly string[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const page: Page = await client.ok({ type: 'list_sessions', limit, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page);
    cursor = page.nextCursor;
  }
  return idsOf(pages);
}

/** Creates sessions with a message each, in one folder of a node; returns their ids. */
async function createSessions(node: Target, cwd: string, count: number): Promise<readonly string[]> {
  const client = await node.connect({ cwd });
  await client.next('state_synced');
  const ids: string[] = [];
  for (let created = 0; created < count; created++) {
    if (created > 0) await client.ok({ type: 'new_session' });
    await client.run(`message ${created}`);
    ids.push(String((await client.ok({ type: 'get_state' })).sessionId));
  }
  client.socket.close();
  await client.ended;
  return ids;
}

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it(
  '[W163] the sessions of three nodes are listed by each in the same order, to a limited token its own alone',
  async () => {
    const home = newHome();
    const [own, others] = [join(home.cwd, 'own'), join(home.cwd, 'others')];
    for (const folder of [own, others]) mkdirSync(folder);
    const tokens = writeTokensFile(home, { [GUEST_TOKEN]: { name: 'Guest', allowedPaths: [own] } });
    const start = (name: string) =>
      startNode(cluster.server.url, name, { cwd: home.cwd, args: [...ONE_REPLICA, '--tokens', tokens] });
    const nodes = [await start('a'), await start('b'), await start('c')];
    const createIn = async (folder: string) =>
      (await Promise.all(nodes.map((node) => createSessions(node, folder, SESSIONS_PER_FOLDER)))).flat();
    const created = { own: await createIn(own), others: await createIn(others) };
    const all = [...created.own, ...created.others];

    const lists = () => Promise.all(nodes.map(async (node) => idsOf(await pagesOf(node, 7))));
    await expect
      .poll(async () => (await lists()).map(({ length }) => length), WAIT_MS)
      .toEqual([all.length, all.length, all.length]);
    await expect.poll(async () => new Set((await lists()).map(String)).size, WAIT_MS).toBe(1);
    const [first = []] = await lists();
    expect([...first].sort()).toEqual([...all].sort());
    for (const node of nodes) {
      const client = await node.connect({ session: first[0] ?? '' });
      expect(await idsThrough(client, 11)).toEqual(first);
      const pages = await pagesOf(node, 3, GUEST_TOKEN);
      expect(idsOf(pages)).toEqual(first.filter((id) => created.own.includes(id)));
      expect(pages).toHaveLength(SESSIONS_PER_FOLDER);
      const cursors = pages.flatMap(({ nextCursor = '' }) => Buffer.from(nextCursor, 'base64url').toString());
      for (const id of created.others) expect(cursors.join(' ')).not.toContain(id);
    }
  },
  SESSIONS_MS,
);

it('[W163] each node shows which sessions run on another, soon after they began and ended', async () => {
  const gate = newGate();
  const { cwd } = newHome();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '.', keep: true }];
  const start = (name: string) => startNode(cluster.server.url, name, { cwd, script, args: ONE_REPLICA });
  const [owner, other] = [await start('d'), await start('e')];
  const client = await owner.connect({});
  const { sessionId } = await client.location();
  const statusAt = async (node: Target) =>
    (await pagesOf(node, 100)).flatMap(({ sessions }) => sessions).find(({ id }) => id === sessionId)?.status;

  await client.ok({ type: 'prompt', message: 'Hi' });
  await expect.poll(() => statusAt(other), WAIT_MS).toBe('running');
  gate.open();
  await client.find('agent_settled');
  await expect.poll(() => statusAt(other), WAIT_MS).toBe('idle');
  expect(await statusAt(owner)).toBe('idle');

  await owner.stop();
  await expect.poll(() => statusAt(other), WAIT_MS).toBeUndefined();
});

it('[W163] an entry that no node can read does not end the lists', async () => {
  const { cwd } = newHome();
  const start = (name: string) => startNode(cluster.server.url, name, { cwd, args: ONE_REPLICA });
  const [owner, other] = [await start('f'), await start('g')];
  const malformed = await Promise.all(
    [INDEX_BUCKET, NODES_BUCKET].map((name) => new Kvm(cluster.connection.js).open(name)),
  );
  for (const bucket of malformed) await bucket.put('malformed', '{');
  await expect.poll(other.stderr).toContain('the cluster failed');

  const client = await owner.connect({});
  await client.run('Hi');
  const { sessionId } = await client.location();
  const listed = async () => (await pagesOf(other, 100)).flatMap(({ sessions }) => sessions);
  await expect.poll(listed, WAIT_MS).toContainEqual(expect.objectContaining({ id: sessionId, status: 'idle' }));
  for (const bucket of malformed) await bucket.purge('malformed');
});
