import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { connectCluster } from '../../../src/server/cluster/connection.ts';
import { LOG_STREAM, logSubject } from '../../../src/server/cluster/names.ts';
import { type Home, newHome, openTestAgent, TAU } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { readLogLines } from '../../support/cluster/log-lines.ts';
import { startNatsServer } from '../../support/cluster/nats-server.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { type ExitResult, runTau, startProgram } from '../../support/processes/program.ts';
import { randomFrom } from '../../support/random.ts';
import { TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';
import {
  assistantEntry,
  header,
  storeSession,
  storeShortSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';

const SEED = Number(process.env['IMPORT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const [ROUNDS, LIMIT_MS] = process.env['SOAK'] ? [40, 900_000] : [2, 60_000];

// Lines of 100 KB in a long file: one that is reported on has more than 16 MB.
const LONG_FILE_LINES = process.env['SOAK'] ? 400 : 180;

// A killed import keeps its claims for 15 % of this time.
const cluster = testCluster({ keyLifeMs: 6000 });

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

const importArgs = (url: string, paths: readonly string[]) => [
  'cluster',
  'import',
  url,
  ...ONE_REPLICA,
  '--node',
  'a',
  ...paths,
];

const importFiles = (home: Home, ...paths: readonly string[]): Promise<ExitResult> =>
  runTau(home, importArgs(cluster.server.url, paths));

/** All that is printed on stderr about sessions whose folder no running node has. */
const homeless = ({ cwd }: Home) =>
  `tau: No running node is called a or shares ${cwd}: its sessions can be opened when one does\n`;

const start = (name: string, { home = newHome(), cwd }: { home?: Home; cwd: string }) =>
  startNode(cluster.server.url, name, { home, cwd, args: ONE_REPLICA });

async function listed(node: Target): Promise<readonly { id: string; path: string }[]> {
  const { body } = await node.get('/api/sessions', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } });
  return (JSON.parse(body) as { sessions: { id: string; path: string }[] }).sessions;
}

/** A session file with messages of these sizes. */
function storeLong(home: Home, id: string, sizes: readonly number[]): string {
  const lines = sizes.map((size, at) => userEntry(`e${at}`, at === 0 ? null : `e${at - 1}`, 'x'.repeat(size)));
  return storeSession(home, [header(home.cwd, { id }), ...lines], { name: `2026-01-02T03-04-05-678Z_${id}.jsonl` });
}

it('[W156] a session of tau moves into the cluster: the same lines, listed and continued by every node, its file set aside', async () => {
  const home = newHome();
  const agent = await openTestAgent('stdio', { home });
  await agent.peer.run('hello');
  const { sessionId } = await agent.peer.ok({ type: 'get_state' });
  await agent.close();
  const [path = ''] = agent.sessionFiles();
  const lines = readFileSync(path);

  expect(await importFiles(home, path)).toMatchObject({
    code: 0,
    stdout: `Imported: ${path}\n`,
    stderr: homeless(home),
  });

  expect(await readLogLines(cluster.connection, sessionId)).toEqual(lines);
  expect(readFileSync(`${path}.imported`)).toEqual(lines);
  expect((await runTau(home, ['sessions', 'list', '--all'])).stdout).toBe('No sessions.\n');
  const node = await start('b', { cwd: home.cwd });
  expect(await listed(node)).toMatchObject([{ id: sessionId }]);
  const client = await node.connect({ session: sessionId });
  expect((await client.next('state_synced'))['messages']).toHaveLength(2);
  await client.run('two');
  // The session has continued in the cluster: there is nothing to do.
  expect(await importFiles(home, path)).toMatchObject({
    code: 0,
    stdout: `Was in the cluster already, now set aside: ${path}\n`,
  });
});

it('[W156] a session whose folder is not shared is opened by the node that the import names', async () => {
  const home = newHome();
  const path = storeShortSession(home, 'with-home', 'hello');
  await importFiles(home, path);
  const other = await startNode(cluster.server.url, 'z', { cwd: newHome().cwd, args: ONE_REPLICA });
  await expect(other.connect({ session: 'with-home' }).then((client) => client.ended)).resolves.toMatchObject({
    code: 4409,
  });

  const own = await startNode(cluster.server.url, 'a', { home, cwd: home.cwd, shared: [], args: ONE_REPLICA });
  expect((await (await own.connect({ session: 'with-home' })).next('state_synced'))['messages']).toHaveLength(2);
});

it('[W156] an import warns once about a folder that no running node has, and names the node of a session that is present', async () => {
  const home = newHome();
  const paths = ['one', 'two'].map((id) => storeShortSession(home, `homeless-${id}`, id));
  await startNode(cluster.server.url, 'b', { cwd: newHome().cwd, args: ONE_REPLICA });
  const own = await startNode(cluster.server.url, 'c', { cwd: home.cwd, shared: [], args: ONE_REPLICA });

  const first = await importFiles(home, ...paths);
  expect(first).toMatchObject({ code: 0, stderr: homeless(home) });
  const unchanged = await runTau(home, ['cluster', 'import', cluster.server.url, ...ONE_REPLICA, paths[0] ?? '']);
  expect(unchanged.stdout).toBe(`Was in the cluster already, now set aside: ${paths[0]}\n`);
  const again = await runTau(home, [...importArgs(cluster.server.url, paths), '--node', 'c']);
  expect(again).toMatchObject({
    code: 0,
    stderr: '',
    stdout: paths.map((path) => `Was in the cluster already, now of this --node: ${path}\n`).join(''),
  });

  const client = await own.connect({ session: 'homeless-one' });
  expect((await client.next('state_synced'))['messages']).toHaveLength(2);
});

it('[W156] an import leaves a session that is in the cluster with its node if no node has the name of --node', async () => {
  const home = newHome();
  const path = storeShortSession(home, 'settled', 'hello');
  await startNode(cluster.server.url, 'd', { cwd: home.cwd, shared: [], args: ONE_REPLICA });
  await runTau(home, [...importArgs(cluster.server.url, [path]), '--node', 'd']);

  const refused = await runTau(home, [...importArgs(cluster.server.url, [path]), '--node', 'nope']);

  const reason = 'No running node is called nope: the session stays with its node';
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: `tau: ${reason}: ${path}\n` });
  const again = await runTau(home, [...importArgs(cluster.server.url, [path]), '--node', 'd']);
  expect(again).toMatchObject({ code: 0, stdout: `Was in the cluster already, now set aside: ${path}\n` });
});

it('[W156] of several copies of a session, one import takes the longest first', async () => {
  const home = newHome();
  const begin = [header(home.cwd, { id: 'copied' }), userEntry('u', null, 'hello')];
  // The copy of a node that was killed in a run may end with an answer that the log never had.
  const short = storeSession(home, [...begin, assistantEntry('x', 'u', '')], { name: 'short.jsonl' });
  const separate = storeShortSession(home, 'separate', 'hello');
  const rest = [assistantEntry('a', 'u', 'a whole answer'), userEntry('v', 'a', 'next')];
  const long = storeSession(home, [...begin, ...rest], { name: 'long.jsonl' });
  const longest = readFileSync(long);

  const { code, stdout, stderr } = await importFiles(home, short, separate, long);

  expect({ code, stdout }).toEqual({ code: 1, stdout: `Imported: ${long}\nImported: ${separate}\n` });
  expect(stderr).toContain(`The cluster has another session with this id, different from line 3 on: ${short}`);
  expect(await readLogLines(cluster.connection, 'copied')).toEqual(longest);
});

it('[W156] what cannot be imported stays as it is and gets one line each; the other files are imported', async () => {
  const home = newHome();
  const open = await openTestAgent('stdio', { home });
  await open.peer.run('hello');
  const [inUse = ''] = open.sessionFiles();
  const other = newHome();
  const foreign = storeShortSession(other, 'taken', 'other content');
  await importFiles(other, foreign);
  const different = storeShortSession(home, 'taken', 'own content');
  const badId = storeSession(home, [header(home.cwd, { id: 'a.b.*' }), userEntry('u', null, 'x')], {
    name: 'bad.jsonl',
  });
  const badTime = storeSession(
    home,
    [header(home.cwd, { id: 'timeless', timestamp: 'soon' }), userEntry('u', null, 'x')],
    { name: 'time.jsonl' },
  );
  const empty = storeSession(home, [header(home.cwd, { id: 'empty' })], { name: 'empty.jsonl' });
  const noSession = join(home.cwd, 'notes.jsonl');
  writeFileSync(noSession, 'no session\n');
  const trashed = storeShortSession(home, 'local-trash', 'x');
  const { stdout } = await runTau(home, ['sessions', 'rm', trashed]);
  const inTrash = stdout.replace('Moved to ', '').trim();
  const good = storeShortSession(home, 'good', 'hello');
  const kept = [inUse, different, badId, badTime, empty, noSession, inTrash];
  const before = kept.map((path) => readFileSync(path, 'utf8'));

  const result = await importFiles(home, ...kept, home.cwd, join(home.cwd, 'missing.jsonl'), good);

  expect(result.code).toBe(1);
  expect(result.stdout).toBe(`Has no messages, left as it is: ${empty}\nImported: ${good}\n`);
  expect(result.stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^tau: .*Session is in use by process \d+/),
    expect.stringContaining(`The cluster has another session with this id, different from line 1 on: ${different}`),
    expect.stringContaining('The id of the session is not valid'),
    expect.stringContaining('The header has no valid time'),
    expect.stringContaining('Not a session file'),
    expect.stringContaining('restore it with tau sessions restore'),
    expect.stringContaining('Not a session file'),
    expect.stringContaining('Session not found'),
    homeless(home).trim(),
  ]);
  expect(kept.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
  const logs = await auditLogs([cluster.server.url]);
  expect([...logs.keys()]).toEqual(expect.arrayContaining(['taken', 'good']));
  expect(logs.has('empty')).toBe(false);
  await open.close();
});

it('[W156] files of older versions and of other programs are imported as tau would continue them', async () => {
  const home = newHome();
  const first = storeSession(
    home,
    [
      { ...header(home.cwd, { id: 'version-1' }), version: undefined },
      {
        type: 'message',
        timestamp: '2026-01-02T03:04:06.000Z',
        message: { role: 'user', content: 'old', timestamp: 1 },
      },
    ],
    { name: 'first.jsonl' },
  );
  const foreign = storeSession(
    home,
    [header(home.cwd, { id: 'foreign' }), userEntry('u', null, 'hello'), 'a line of another program', { id: 7 }],
    { name: 'foreign.jsonl' },
  );
  const torn = storeShortSession(home, 'torn', 'hello');
  const whole = readFileSync(torn);
  appendFileSync(torn, '{"type":"message","id":"cut');

  expect(await importFiles(home, first, foreign, torn)).toMatchObject({ code: 0, stderr: homeless(home) });

  expect(await readLogLines(cluster.connection, 'foreign')).toEqual(readFileSync(`${foreign}.imported`));
  expect(await readLogLines(cluster.connection, 'torn')).toEqual(whole);
  const node = await start('e', { cwd: home.cwd });
  for (const [session, messages] of [
    ['version-1', 1],
    ['foreign', 1],
    ['torn', 2],
  ] as const) {
    const client = await node.connect({ session });
    expect((await client.next('state_synced'))['messages']).toHaveLength(messages);
    await client.run('two');
  }
  await node.stop();
  // The audit expects that each line is JSON.
  await cluster.connection.manager.streams.purge(LOG_STREAM, { filter: logSubject('foreign') });
});

it('[W156] a session in the trash of the cluster, and one that a node serves, are not imported', async () => {
  const home = newHome();
  const paths = ['trashed', 'served'].map((id) => storeShortSession(home, id, 'hello'));
  const copies = paths.map((path) => readFileSync(path));
  await importFiles(home, ...paths);
  const node = await start('c', { cwd: home.cwd });
  const served = await node.connect({ session: 'served' });
  const { path: sessionPath } = (await listed(node)).find(({ id }) => id === 'trashed') ?? {};
  await served.ok({ type: 'delete_session', sessionPath });
  // Longer files than the logs, so that something is left to import.
  for (const [at, path] of paths.entries()) {
    writeFileSync(path, copies[at] ?? '');
    appendFileSync(path, `${JSON.stringify(assistantEntry('more', 'm', 'more'))}\n`);
  }

  const { code, stderr } = await importFiles(home, ...paths);

  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringContaining('Session is in the trash of the cluster'),
    expect.stringContaining('Session is in use on a node of the cluster'),
  ]);
  expect(paths.every((path) => existsSync(path))).toBe(true);
});

it('[W156] long files of many lines and of a single one arrive byte for byte, and progress is reported', async () => {
  const home = newHome();
  const many = storeLong(
    home,
    'many-lines',
    Array.from({ length: LONG_FILE_LINES }, () => 100_000),
  );
  const single = storeLong(home, 'single-line', [100, LONG_FILE_LINES * 100_000, 100]);
  const contents = [many, single].map((path) => readFileSync(path));

  const { code, stderr } = await importFiles(home, many, single);

  expect(code).toBe(0);
  expect(stderr).toMatch(/many-lines.jsonl: 16 MB of (17|38)\.\d MB\n/);
  expect((await readLogLines(cluster.connection, 'many-lines')).equals(contents[0] ?? Buffer.of())).toBe(true);
  expect((await readLogLines(cluster.connection, 'single-line')).equals(contents[1] ?? Buffer.of())).toBe(true);
});

it(
  `[W156] an import that is killed at any point is completed by the next one (IMPORT_SEED=${SEED})`,
  async () => {
    const random = randomFrom(SEED);
    // The audit of each round reads all logs.
    await cluster.connection.manager.streams.purge(LOG_STREAM);
    for (let round = 1; round <= ROUNDS; round++) {
      const home = newHome();
      const id = `killed-${round}`;
      const path = storeLong(home, id, [100, ...Array.from({ length: 20 }, () => 1_000_000), 100]);
      const lines = readFileSync(path);
      // A claim, the pieces of two records, the entry in the index and the release.
      for (let kills = 1 + random(2); kills > 0; kills--) await importAndKill(home, path, 1 + random(26));

      expect(await importFiles(home, path)).toMatchObject({ code: 0, stdout: expect.stringContaining(path) });

      expect((await readLogLines(cluster.connection, id)).equals(lines)).toBe(true);
      expect(existsSync(path)).toBe(false);
      expect(readFileSync(`${path}.imported`).equals(lines)).toBe(true);
      expect(readdirSync(join(path, '..'))).toHaveLength(1);
      await auditLogs([cluster.server.url]);
      if (round > 1) {
        // The stream is small.
        await cluster.connection.manager.streams.purge(LOG_STREAM, { filter: logSubject(id) });
        continue;
      }
      const node = await start('d', { cwd: home.cwd });
      expect((await listed(node)).map((session) => session.id)).toContain(id);
      expect((await (await node.connect({ session: id })).next('state_synced'))['messages']).not.toHaveLength(0);
      await node.stop();
    }
  },
  LIMIT_MS,
);

/** Kills an import as soon as it has sent this many records to the servers. */
async function importAndKill(home: Home, path: string, records: number): Promise<void> {
  const { nats } = cluster.connection;
  const { child, finished } = startProgram(home, [process.execPath, TAU, ...importArgs(cluster.server.url, [path])]);
  let sent = 0;
  const subscriptions = ['tau.log.>', '$KV.tau_index.>'].map((subject) =>
    nats.subscribe(subject, {
      callback: () => {
        if (++sent === records) child.kill('SIGKILL');
      },
    }),
  );
  await finished;
  for (const subscription of subscriptions) subscription.unsubscribe();
}

it('[W156] after the loss of the stream, the files of the nodes restore the newest of each session', async () => {
  const server = await startNatsServer();
  onTestFinished(() => server.stop());
  const home = newHome();
  const init = () => runTau(home, ['cluster', 'init', server.url, '--max-bytes', '64M', ...ONE_REPLICA]);
  await init();
  const connection = await connectCluster({ servers: [server.url], name: 'test' });
  onTestFinished(() => connection.nats.close());
  const { cwd } = home;
  const homes = [newHome(), newHome()];
  const startOne = (at: number) => startNode(server.url, `n${at}`, { home: homes[at] ?? home, cwd, args: ONE_REPLICA });
  // Each node has the newest lines of one session, and an older copy of the other.
  const ids: string[] = [];
  for (const at of [0, 1, 0]) {
    const node = await startOne(at);
    if (ids.length > 0) await (await node.connect({ session: ids.at(-1) ?? '' })).run('two');
    if (ids.length < 2) ids.push(await newSessionOn(node));
    await node.stop();
  }
  const newest = await Promise.all(ids.map((id) => readLogLines(connection, id)));

  await connection.manager.streams.delete(LOG_STREAM);
  await init();
  const refused = await startOne(0);
  const early = await refused.connect({ session: ids[0] ?? '' });
  expect((await early.ended).reason).toContain('ends before records that it acknowledged');
  await refused.stop();
  for (const { agentDir } of homes) {
    const folder = join(agentDir, 'server', 'cluster', 'sessions');
    const files = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(folder, name));
    expect(files).toHaveLength(2);
    expect(await runTau(home, importArgs(server.url, files))).toMatchObject({ code: 0, stderr: homeless(home) });
  }

  for (const [at, id] of ids.entries()) expect(await readLogLines(connection, id)).toEqual(newest[at]);
  const again = await startOne(0);
  for (const id of ids)
    expect((await (await again.connect({ session: id })).next('state_synced'))['messages']).toHaveLength(4);
  await auditLogs([server.url]);
});

async function newSessionOn(node: Target): Promise<string> {
  const client = await node.connect({});
  await client.run('one');
  return (await client.location()).sessionId;
}
