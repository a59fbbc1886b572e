import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { filesBelow, TARGET_TOKEN, type Target, type TargetClient } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const headers = { authorization: `Bearer ${TARGET_TOKEN}` };

// Characters of a prompt; three of them make a page.
const LONG = process.env['SOAK'] ? 7_000_000 : 1_500_000;

/** A session that one node serves, with a client of another node. */
async function sessionOfAnotherNode(names: [string, string], script?: readonly object[]) {
  const { cwd } = newHome();
  const home = newHome();
  writeSettings(home, { compaction: { enabled: false } });
  const start = (name: string, more: object) =>
    startNode(cluster.server.url, name, { cwd, args: ONE_REPLICA, ...(script ? { script } : {}), ...more });
  const [owner, other] = [await start(names[0], { home }), await start(names[1], {})];
  const first = await owner.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  const client = await other.connect({ session: sessionId });
  await client.next('state_synced');
  return { cwd, owner, other, first, client, sessionId };
}

const pagesOf = (node: Target) =>
  filesBelow(join(node.home.agentDir, 'server')).filter((path) => path.includes('exports'));

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W162] [W82] a page that another node made is offered by the node of the client, once', async () => {
  const { owner, other, client } = await sessionOfAnotherNode(['a', 'b']);

  const { path, url } = await client.ok({ type: 'export_html' });

  expect(path.startsWith(other.home.agentDir)).toBe(true);
  expect((await owner.get(url, { headers })).status).toBe(404);
  const page = await other.get(url, { headers });
  expect(page.status).toBe(200);
  expect(page.headers['content-disposition']).toContain('attachment');
  expect(page.body).toContain('<html');
  expect(page.body).toContain('"one"');
  expect((await other.get(url, { headers })).status).toBe(404);
  await expect.poll(() => pagesOf(owner)).toEqual([]);
});

it('[W162] [S38] the path that a client names is written under the rules of its own node', async () => {
  const { cwd, owner, client } = await sessionOfAnotherNode(['c', 'd']);
  writeFileSync(join(cwd, 'notes.txt'), 'Not a page');

  const { path } = await client.ok({ type: 'export_html', outputPath: 'page.html' });

  expect(path).toBe(join(cwd, 'page.html'));
  expect(readFileSync(path, 'utf8')).toContain('<html');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await client.refused({ type: 'export_html', outputPath: 'notes.txt' })).toMatchObject({
    code: 'permission_denied',
  });
  expect(await client.refused({ type: 'export_html', outputPath: 'no/folder.html' })).toMatchObject({
    code: 'not_found',
  });
  expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('Not a page');
  await expect.poll(() => pagesOf(owner)).toEqual([]);
});

it('[W162] a page of many pieces comes whole while other commands get their responses', async () => {
  // By the reported usage the context is never full.
  const steps = [{ text: 'hello' }, { usage: { input: 1, output: 1 } }];
  const { other, client, first } = await sessionOfAnotherNode(['e', 'f'], [{ steps, when: '.', keep: true }]);
  for (let runs = 1; runs <= 3; runs++) await first.run('x'.repeat(LONG));

  const exported = client.ok({ type: 'export_html' });
  expect(await client.ok({ type: 'get_state' })).toMatchObject({ messageCount: 8 });
  const { path, url } = await exported;

  expect(statSync(path).size).toBeGreaterThan(3 * LONG);
  const { path: original } = await first.ok({ type: 'export_html' });
  expect(readFileSync(path).equals(readFileSync(original))).toBe(true);
  expect((await other.get(url, { headers })).body).toHaveLength(readFileSync(path, 'utf8').length);
});

it('[W162] an export fails when the node that makes the page dies, and leaves nothing', async () => {
  const { owner, client } = await sessionOfAnotherNode(['g', 'h']);
  const folder = await exportFolderOf(client);
  process.kill(owner.pid, 'SIGSTOP');
  client.send({ id: 'x', type: 'export_html' });
  process.kill(owner.pid, 'SIGKILL');

  expect(await client.find(({ id }) => id === 'x')).toMatchObject({
    success: false,
    error: 'The node that serves the session is gone',
  });
  expect(await client.ended).toMatchObject({ code: 1012 });
  expect(filesBelow(folder).filter((path) => path.endsWith('.tmp'))).toEqual([]);
});

/** The folder in which the node of a client keeps pages. */
async function exportFolderOf(client: TargetClient): Promise<string> {
  const { path } = await client.ok({ type: 'export_html' });
  return dirname(path);
}
