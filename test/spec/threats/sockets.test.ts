import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sendRequest } from '../../../src/server/http/testing/raw-clients.ts';
import { newToken, TARGET_TOKEN, rejectedUpgrade, startTarget, slowAgent, type TargetClient } from '../../support/server/attack-target.ts';
import { runTau } from '../../support/processes/program.ts';
import { newHome } from '../../support/agent/test-agent.ts';

const tlsFiles = ['cert', 'key'].flatMap((name) => [
  `--tls-${name}`,
  join(import.meta.dirname, `../../fixtures/tls/${name}.pem`),
]);

it('[W74] a client that answers no ping is closed, and one that answers stays', async () => {
  const target = await startTarget({ args: ['--ping-seconds', '1'] });
  const there = await target.connect();
  const gone = await target.connect({}, { autoPong: false });
  const connected = await gone.find('server_connected');

  const { code } = await gone.ended;

  expect(connected).toMatchObject({ pingMs: 1000 });
  expect(code).toBe(4408);
  expect(gone.records.at(-1)).toMatchObject({ type: 'server_disconnected', reason: 'timeout' });
  await there.ok({ type: 'get_state' });
});

it('[W74 W73] a client whose session takes long to begin is not taken for one that is gone', async () => {
  const { agent, release } = slowAgent();
  const target = await startTarget({ args: ['--ping-seconds', '1', '--agent-command', agent] });
  const early = await target.connect();
  early.send({ type: 'get_state', id: 'early' });
  const gone = await startTarget({ args: ['--ping-seconds', '1'] }).then((other) => other.connect({}, { autoPong: false }));

  // As long as it takes to find somebody gone who is.
  await gone.ended;
  release();

  expect(await early.find(({ id }) => id === 'early')).toMatchObject({ success: true });
});

it('[W75] one token has 250 sockets at most, its logins among them; others still come in', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home);
  const host = await target.connect({ token });
  const { sessionId } = await host.location();
  const login = await target.post('/api/login', { token });
  const headers = {
    cookie: String(login.headers['set-cookie']?.[0]).split(';')[0] ?? '',
    origin: `http://127.0.0.1:${target.port}`,
  };
  const crowd: TargetClient[] = [];
  for (let index = 0; index < 249; index++) crowd.push(await target.connect({ token, session: sessionId }));
  await Promise.all(crowd.map((visitor) => visitor.location()));

  const more = await target.connect({ token, session: sessionId });
  const page = await target.connect({ token: null, session: sessionId }, { headers });

  for (const visitor of [more, page]) {
    expect(await visitor.ended).toEqual({ code: 1013, reason: 'Too many connections' });
    expect(visitor.records[0]).toMatchObject({ type: 'server_error', code: 'overloaded' });
  }
  await (await target.connect({ session: sessionId })).location();
  crowd[0]?.socket.close();
  await crowd[0]?.ended;
  await (await target.connect({ token, session: sessionId })).location();
});

it('[W75] those who are sent away are so many at a time; more are refused before the upgrade', async () => {
  const target = await startTarget();
  const head = [
    'GET /session HTTP/1.1',
    `Host: 127.0.0.1:${target.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
  ];
  const statusOf = () =>
    new Promise<string>((resolve) => {
      const socket = target.openSocket(
        `${head.join('\r\n')}\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
      );
      // It never answers the goodbye, so that it is there until its time is over.
      socket.once('data', (chunk) => resolve(chunk.toString().slice(9, 12)));
    });

  const statuses = await Promise.all(Array.from({ length: 120 }, statusOf));

  expect(statuses.filter((status) => status === '101')).toHaveLength(100);
  expect(statuses.filter((status) => status === '503')).toHaveLength(20);
  await (await target.connect()).location();
});

it('[W45] hundreds of silent sockets and half requests lock nobody out', async () => {
  const target = await startTarget();
  const visitor = await target.connect();
  await visitor.location();
  const halves = [
    '',
    'GET /sess',
    `GET /session?token=${TARGET_TOKEN} HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nConnection: Upgrade\r\nUpgrade: webs`,
    `POST /api/login HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
  ];

  for (let index = 0; index < 300; index++) target.openSocket(halves[index % halves.length]);
  await expect.poll(async () => (await target.get('/healthz')).status).toBe(200);
  await (await target.connect()).location();

  await visitor.run('say hello');
});

it('[W77] one token keeps half of the sessions alive at most, and idle agents make room', async () => {
  const target = await startTarget({ args: ['--max-sessions', '4'] });
  const { token } = await newToken(target.home);
  const held = [await target.connect({ token }), await target.connect({ token })];
  await Promise.all(held.map((visitor) => visitor.location()));

  const third = await target.connect({ token });
  expect(await third.ended).toEqual({ code: 1013, reason: 'Too many sessions of one token' });
  for (let index = 0; index < 5; index++) {
    const visitor = await target.connect();
    await visitor.location();
    visitor.socket.close();
    await visitor.ended;
  }
  await Promise.all(held.map((visitor) => visitor.ok({ type: 'get_state' })));
});

it('[W72] a client that never reads is closed, while the others hear everything', async () => {
  const script = [{ steps: [{ text: 'abcdefgh'.repeat(100), times: 20_000 }] }];
  const target = await startTarget({ script });
  const host = await target.connect({ stream: 'delta' });
  const { sessionId } = await host.location();
  const deaf = await target.connect({ session: sessionId, stream: 'delta' });
  await deaf.find('state_synced');
  deaf.socket.pause();

  await host.run('a long answer');
  const { text } = await host.ok({ type: 'get_last_assistant_text' });
  deaf.socket.resume();

  expect(text).toHaveLength(800 * 20_000);
  expect([1006, 4408]).toContain((await deaf.ended).code);
});

it('[W36] another address than loopback is refused without TLS or a proxy', async () => {
  const home = newHome();

  for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
    const { code, stderr, stdout } = await runTau(home, ['serve', '--host', host, '--port', '0']);

    expect([host, code, stdout]).toEqual([host, 1, '']);
    expect(stderr).toMatch(/^tau: cannot listen on \S+: others could read along\. Give --tls-cert and --tls-key/);
  }
});

it('[W36 A14] over TLS everything works, and its cookie goes over TLS only', async () => {
  const target = await startTarget({ args: [...tlsFiles, '--host', '0.0.0.0'] });

  const visitor = await target.connect();
  await visitor.run('say hello');
  const login = await target.post('/api/login', { code: target.code });

  expect(target.socketUrl).toMatch(/^wss:/);
  expect(String(login.headers['set-cookie'])).toContain('; Secure');
  const plain = target.openSocket(`GET /healthz HTTP/1.1\r\nHost: localhost:${target.port}\r\n\r\n`);
  await new Promise((resolve) => plain.once('close', resolve));
  await visitor.ok({ type: 'get_state' });
});

it('[W39] over the socket file the owner needs no token, and nobody else gets at it', async () => {
  const home = newHome();
  const socketPath = join(home.root, 's.sock');
  const target = await startTarget({ home, args: ['--socket', socketPath] });

  const visitor = await target.connect({ token: null }, { url: `ws+unix://${socketPath}:/session` });
  await visitor.ok({ type: 'set_trust', trusted: true });
  const me = await sendRequest({ socketPath, path: '/api/me' });

  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  expect(JSON.parse(me.body)).toMatchObject({ name: 'owner' });
  expect((await target.get('/api/me')).status).toBe(401);
});

it('[W42] what the server counts and which sessions there are is told to those who may look', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home, { scope: 'prompt' });
  const statuses = async (headers: Record<string, string>) =>
    Promise.all(['/metrics', '/api/sessions'].map(async (path) => (await target.get(path, { headers })).status));

  expect(await statuses({})).toEqual([401, 401]);
  expect(await statuses({ authorization: 'Bearer wrong' })).toEqual([401, 401]);
  expect(await statuses({ authorization: `Bearer ${token}` })).toEqual([403, 403]);
  expect(await statuses({ authorization: `Bearer ${TARGET_TOKEN}` })).toEqual([200, 200]);
});

it('[W78] nothing about the server is left in the project, and its own folder is the user’s alone', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home);
  const visitor = await target.connect({ token });
  await visitor.run('say hello');
  await visitor.ok({ type: 'export_html' });

  expect(readdirSync(target.home.cwd)).toEqual([]);
  const folder = join(target.home.agentDir, 'server');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  for (const path of files.filter((file) => statSync(file).isFile())) {
    expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
    expect(readFileSync(path, 'utf8')).not.toContain(token);
    expect(readFileSync(path, 'utf8')).not.toContain(TARGET_TOKEN);
  }
});

it('[W37] a socket over HTTP/1.0, or in a request with a body, is none', async () => {
  const target = await startTarget();
  const answer = await new Promise<number>((resolve, reject) => {
    const upgrade = request({
      port: target.port,
      path: `/session?token=${TARGET_TOKEN}`,
      method: 'POST',
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'content-length': 2,
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-version': '13',
      },
    });
    upgrade.on('response', (response) => resolve(response.statusCode ?? 0)).on('upgrade', () => resolve(101));
    upgrade.on('error', reject).end('{}');
  });

  expect(answer).toBe(400);
  expect((await rejectedUpgrade(target.connect({}, { url: `${target.socketUrl}/` }))).status).toBe(404);
});
