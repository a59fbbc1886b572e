import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ClusterConnection, connectCluster, newNkey } from '../../../src/server/cluster/connection.ts';
import { AUTH_BUCKET, bucketStream, LOG_STREAM } from '../../../src/server/cluster/names.ts';
import { newHome, TAU, writeUserFile } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { type DeployedNats, makeCertificates, startDeployedNats } from '../../support/cluster/deployed-nats.ts';
import { startNatsServer } from '../../support/cluster/nats-server.ts';
import { runTau } from '../../support/processes/program.ts';
import {
  filesBelow,
  newToken,
  readAll,
  secretsIn,
  TARGET_TOKEN,
  type TargetOptions,
} from '../../support/server/attack-target.ts';
import { storeShortSession } from '../../support/sessions/stored-session.ts';

let nats: DeployedNats;

// Servers that are new to each other sometimes find no peers for a stream, and never do: then others are started.
const MAX_STARTS = 3;

beforeAll(async () => {
  for (let start = 1; ; start++) {
    nats = await startDeployedNats();
    const args = ['cluster', 'init', nats.urls, '--max-bytes', '1G', ...credentials(nats.adminKey)];
    try {
      execFileSync(process.execPath, [TAU, ...args], { stdio: 'pipe' });
      return;
    } catch (error) {
      await nats.stop();
      if (start === MAX_STARTS) throw error;
    }
  }
}, 300_000);

afterAll(() => nats.stop());

afterEach(async () => {
  await auditLogs(nats.urls.split(','), { nkeyFile: nats.nodeKey, caFile: nats.caFile });
});

/** The flags of a NATS user. */
const credentials = (nkeyFile: string, caFile = nats.caFile) => ['--nats-nkey', nkeyFile, '--nats-ca', caFile];

/** The operations that the servers have refused. */
const violations = () =>
  nats
    .log()
    .split('\n')
    .filter((line) => line.includes('Violation'));

const start = (name: string, cwd: string, { args = [], ...options }: TargetOptions = {}) =>
  startNode(nats.urls, name, { cwd, ...options, args: [...credentials(nats.nodeKey), ...args] });

async function connect(nkeyFile: string): Promise<ClusterConnection> {
  const servers = nats.urls.split(',');
  const connection = await connectCluster({ servers, name: 'test', nkeyFile, caFile: nats.caFile });
  onTestFinished(() => connection.nats.close());
  return connection;
}

it('[W158] the key of the administrator creates the streams; that of a node creates, changes and deletes none', async () => {
  const args = ['cluster', 'init', nats.urls, '--max-bytes', '1G', ...credentials(nats.nodeKey)];
  const refused = await runTau(newHome(), args);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('do not allow $JS.API.STREAM.CREATE.TAU') });

  const { manager, js } = await connect(nats.nodeKey);
  const { config } = await manager.streams.info(LOG_STREAM);
  const attempts = [
    () => manager.streams.add({ name: 'OTHER', subjects: ['other'] }),
    () => manager.streams.update(LOG_STREAM, { ...config, max_bytes: 1 }),
    () => manager.streams.delete(LOG_STREAM),
    () => manager.streams.delete('KV_tau_index'),
    () => manager.streams.deleteMessage(LOG_STREAM, 1),
    () => js.publish('other', ''),
  ];
  for (const attempt of attempts) await expect(attempt()).rejects.toThrow('Permissions Violation');
  expect(config).toMatchObject({ num_replicas: 3 });
});

it('[W158] tau cluster keys creates keys that only their owner can read, and overwrites none', async () => {
  const home = newHome();
  const first = await runTau(home, ['cluster', 'keys']);
  const seeds = ['admin.nk', 'node.nk'].map((name) => readFileSync(join(home.cwd, name), 'utf8'));
  const again = await runTau(home, ['cluster', 'keys', home.cwd]);

  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^TAU_ADMIN_NKEY=U[A-Z2-7]{55}\nTAU_NODE_NKEY=U[A-Z2-7]{55}\n$/),
  });
  expect(statSync(join(home.cwd, 'node.nk')).mode & 0o777).toBe(0o600);
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('admin.nk exists') });
  expect(['admin.nk', 'node.nk'].map((name) => readFileSync(join(home.cwd, name), 'utf8'))).toEqual(seeds);
});

it('[W158] nodes with the key of a node serve each other over TLS, and need no other permission', async () => {
  const { cwd } = newHome();
  expect(await runTau(newHome(), ['cluster', 'check', nats.urls, ...credentials(nats.nodeKey)])).toMatchObject({
    code: 0,
  });
  const before = violations();
  const [a, b] = [await start('a', cwd), await start('b', cwd)];
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  const second = await b.connect({ session: sessionId });
  await second.run('two');
  await first.ok({ type: 'set_session_name', name: 'named' });
  const [entry] = (await second.ok({ type: 'get_fork_messages' })).messages;
  await second.ok({ type: 'fork', entryId: entry.entryId });
  await second.run('three');
  // A session without content is purged when its client leaves.
  const empty = await a.connect({ new: 'true' });
  await empty.location();
  await a.stop();

  const third = await b.connect({ session: sessionId });
  expect((await third.next('state_synced')).messages).toHaveLength(4);
  const { sessions } = await third.ok({ type: 'list_sessions' });
  const other = sessions.find(({ id }: { id: string }) => id !== sessionId);
  const here = sessions.find(({ id }: { id: string }) => id === sessionId);
  await second.ok({ type: 'switch_session', sessionPath: here.path });
  const { trashPath } = await third.ok({ type: 'delete_session', sessionPath: other.path });
  await third.ok({ type: 'restore_session', trashPath });
  expect(a.stderr() + b.stderr()).toBe('');
  expect(violations()).toEqual(before);
});

it('[W150 W158] the key of a node is enough to create, use and revoke tokens', async () => {
  const before = violations();
  const a = await start('g', newHome().cwd);
  const tauToken = async (...args: string[]) => {
    const flags = ['--cluster', nats.urls, ...credentials(nats.nodeKey)];
    const { code, stdout, stderr } = await runTau(newHome(), ['token', ...args, ...flags]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout.trim();
  };
  const token = await tauToken('create', '--name', 'phone');
  await expect.poll(async () => (await a.post('/api/login', { token })).status, { timeout: 10_000 }).toBe(200);
  const { headers } = await a.post('/api/login', { code: a.code });
  const [cookie = ''] = String(headers['set-cookie']).split(';');
  const origin = `http://127.0.0.1:${a.port}`;
  expect((await a.post('/api/logout', {}, { cookie, origin })).status).toBe(200);
  const client = await a.connect({ token });
  await tauToken('revoke', 'phone');
  expect(await client.ended).toMatchObject({ code: 1008 });
  // Nodes delete the marks of removed keys.
  const { manager } = await connect(nats.nodeKey);
  await manager.streams.purge(bucketStream(AUTH_BUCKET), { filter: `$KV.${AUTH_BUCKET}.token.none` });
  expect(violations()).toEqual(before);
});

it('[W155 W156 W158] the key of a node is enough to list nodes and import sessions', async () => {
  const before = violations();
  const home = newHome();
  await start('i', home.cwd);
  const path = storeShortSession(home, 'by-node-key', 'hello');
  const flags = credentials(nats.nodeKey);

  const nodes = await runTau(home, ['cluster', 'nodes', nats.urls, ...flags]);
  expect(nodes).toMatchObject({ code: 0, stdout: expect.stringMatching(/^i /m) });
  const imported = await runTau(home, ['cluster', 'import', nats.urls, ...flags, '--node', 'i', path]);
  expect(imported).toMatchObject({ code: 0, stdout: `Imported: ${path}\n`, stderr: '' });
  expect(violations()).toEqual(before);
});

it('[W158] a key or a CA that does not fit ends the start with one line, and without the secret', async () => {
  const home = newHome();
  const { seed } = newNkey();
  const other = join(home.root, 'other.nk');
  writeFileSync(other, seed);
  const broken = join(home.root, 'broken.nk');
  writeFileSync(broken, readFileSync(nats.nodeKey, 'utf8').slice(0, -8));
  const missing = join(home.root, 'missing.pem');
  const cases = [
    { args: credentials(other), message: 'rejects the credentials' },
    { args: credentials(broken), message: `${broken} holds no seed of an nkey` },
    { args: credentials(nats.caFile), message: `${nats.caFile} holds no seed of an nkey` },
    { args: [], message: 'failed: check --nats-ca' },
    { args: credentials(nats.nodeKey, missing), message: `Could not read ${missing}: ENOENT` },
    { args: credentials(nats.nodeKey, other), message: 'failed: check --nats-ca' },
    { args: ['--nats-ca', nats.caFile, '--nats-creds', other], message: `${other} holds no credentials for NATS` },
  ];
  for (const { args, message } of cases) {
    const { code, stdout, stderr } = await runTau(home, ['serve', '--cluster', nats.urls, '--node', 'x', ...args]);
    expect({ code, stdout, lines: stderr.trim().split('\n').length }, stderr).toEqual({
      code: 1,
      stdout: '',
      lines: 1,
    });
    expect(stderr).toContain(message);
    expect(secretsIn(stderr, { seed, node: readFileSync(nats.nodeKey, 'utf8').trim().slice(0, 20) })).toEqual([]);
  }
});

/** A server that requires TLS, with a certificate for one name or IP number, and the CA of the certificate. */
async function tlsServer(subject: string): Promise<{ port: string; caFile: string }> {
  const { root } = newHome();
  makeCertificates(root, subject);
  const file = join(root, subject.replace(/^\w+:/, ''));
  const server = await startNatsServer({ config: `tls { cert_file: "${file}.pem", key_file: "${file}.key" }` });
  onTestFinished(() => server.stop());
  return { port: new URL(server.url).port, caFile: join(root, 'ca.pem') };
}

it('[W158] a certificate must be for the name or the IP number of the address, and of the given CA', async () => {
  const [byNumber, byName] = [await tlsServer('IP:127.0.0.1'), await tlsServer('DNS:localhost')];
  const run = (url: string, args: readonly string[]) =>
    runTau(newHome(), ['cluster', 'init', url, '--max-bytes', '64M', ...ONE_REPLICA, ...args]);
  const number = `nats://127.0.0.1:${byNumber.port}`;

  for (const [url, caFile] of [
    [number, byNumber.caFile],
    [number.replace('nats:', 'tls:'), byNumber.caFile],
    [`nats://localhost:${byName.port}`, byName.caFile],
  ] as const) {
    expect(await run(url, ['--nats-ca', caFile])).toMatchObject({ code: 0, stderr: '' });
  }
  const noTls = await startNatsServer();
  onTestFinished(() => noTls.stop());
  const otherName = 'The certificate of the NATS server is not for';
  for (const [url, args, message] of [
    [`nats://127.0.0.1:${byName.port}`, ['--nats-ca', byName.caFile], otherName],
    [`nats://localhost:${byNumber.port}`, ['--nats-ca', byNumber.caFile], otherName],
    // Its CA has the same name as the one of the server.
    [number, ['--nats-ca', byName.caFile], 'failed: check --nats-ca'],
    [number.replace('nats:', 'tls:'), [], 'failed: check --nats-ca'],
    [noTls.url.replace('nats:', 'tls:'), [], 'has no TLS'],
  ] as const) {
    const { code, stderr } = await run(url, args);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    expect(stderr).toMatch(/^[^\n]*\n$/);
  }
});

it('[W159] no prompt, token or key is where it is not needed, and agents know nothing of NATS', async () => {
  const home = newHome();
  const secrets = { prompt: 'wombat-in-the-prompt', steer: 'quokka-in-the-steer', modelKey: 'sk-model-key-0123456789' };
  writeUserFile(home, 'models.json', JSON.stringify({ providers: { mine: { apiKey: secrets.modelKey } } }));
  const { messages, end } = await recordMessages();
  const environment = 'env; cat /proc/$$/environ /proc/$PPID/environ | tr "\\0" "\\n"; echo done';
  const script = [
    { steps: [{ toolCall: { name: 'bash', arguments: { command: environment } } }], when: 'first', keep: true },
    { text: 'hello', when: '.', keep: true },
  ];
  const env = { ANTHROPIC_API_KEY: secrets.modelKey };
  const args = ['--log-level', 'info'];
  // The command below prints the environment of its agent: that of the first node has no key of a model.
  const a = await start('c', home.cwd, { home, script, args });
  const b = await start('d', home.cwd, { script, env, args });
  const { token } = await newToken(home, { args: ['--cluster', nats.urls, ...credentials(nats.nodeKey)] });
  const login = await a.post('/api/login', { code: a.code });
  const cookie = String(login.headers['set-cookie']).split(';')[0]?.split('=')[1] ?? '';
  expect(cookie).not.toBe('');

  const bearer = { headers: { authorization: `Bearer ${token}` } };
  await expect.poll(async () => (await a.get('/api/me', bearer)).status, { timeout: 10_000 }).toBe(200);
  const first = await a.connect({ token });
  const { sessionId } = await first.location();
  await first.run('first message of the list');
  const [, , result] = (await first.ok({ type: 'get_messages' })).messages;
  const second = await b.connect({ session: sessionId });
  await second.run(secrets.prompt);
  await second.ok({ type: 'steer', message: secrets.steer });
  const owner = await a.connect({ session: sessionId });
  await owner.ok({ type: 'set_credential', provider: 'openai', apiKey: secrets.modelKey });
  const scraped = await Promise.all(
    [a, b].map((node) => node.get('/metrics', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } })),
  );
  await a.stop();
  await b.stop();
  await end();

  const all = { ...secrets, token, cookie, code: a.code, owner: TARGET_TOKEN, nkey: secretOf(nats.nodeKey) };
  // The environment of a tool and of its agent.
  const output = JSON.stringify(result);
  expect(output).toContain('done');
  for (const word of [nats.nodeKey, nats.caFile, nats.urls, 'NATS', all.nkey]) expect(output).not.toContain(word);
  // Files of the nodes beside the copies of the logs.
  const files = [a, b].flatMap(({ home: { agentDir } }) => filesBelow(join(agentDir, 'server')));
  const own = readAll(files.filter((file) => !file.includes('/cluster/sessions/')));
  const printed = [a, b].map((node) => node.stderr() + node.stdout().replace(a.code, '')).join('');
  expect(own).toContain('"prompt"');
  expect(secretsIn(own + printed + scraped.map(({ body }) => body).join('') + nats.log(), all)).toEqual([]);
  // Prompts are in the log, and in what two nodes send each other for their clients.
  const { prompt: _, steer: __, ...credentialsOnly } = all;
  const elsewhere = messages.filter(({ subject }) => !/^(tau\.log|tau\.v1\.node\.\w+\.[\w-]+\.channel$)/.test(subject));
  expect(messages.length).toBeGreaterThan(20);
  expect(secretsIn(messages.map(({ subject, text }) => `${subject} ${text}`).join('\n'), credentialsOnly)).toEqual([]);
  expect(secretsIn(messages.map(({ subject }) => subject).join('\n'), all)).toEqual([]);
  expect(secretsIn(elsewhere.map(({ text }) => text).join('\n'), all)).toEqual([]);
});

const secretOf = (file: string) => readFileSync(file, 'utf8').trim();

/** Records every message of the account of tau, with its headers. */
async function recordMessages() {
  const { nats: client } = await connect(nats.adminKey);
  const messages: { subject: string; text: string }[] = [];
  client.subscribe('>', {
    callback: (_, { subject, headers, data }) => {
      const fields = [...(headers ?? [])].map(([name, values]) => `${name}: ${values.join(', ')}`);
      messages.push({ subject, text: [...fields, new TextDecoder().decode(data)].join('\n') });
    },
  });
  await client.flush();
  return { messages, end: () => client.flush() };
}
