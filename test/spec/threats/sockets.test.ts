import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sendRequest } from '../../../src/server/http/testing/raw-clients.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import {
  newToken,
  rejectedUpgrade,
  slowAgent,
  startTarget,
  TARGET_TOKEN,
  type TargetClient,
} from '../../support/server/attack-target.ts';

const tlsFiles = ['cert', 'key'].flatMap((name) => [
  `--tls-${name}`,
  join(import.meta.dirname, `../../fixtures/tls/${name}.pem`),
]);

it('[W74] a client that answers no ping is closed, and one that answers stays', async () => {
  const target = await startTarget({ args: ['--ping-seconds', '1'] });
  const responsive = await target.connect();
  const silent = await target.connect({}, { autoPong: false });
  const connected = await silent.find('server_connected');

  const { code } = await silent.ended;

  expect(connected).toMatchObject({ pingMs: 1000 });
  expect(code).toBe(4408);
  expect(silent.records.at(-1)).toMatchObject({ type: 'server_disconnected', reason: 'timeout' });
  await responsive.ok({ type: 'get_state' });
});

it('[W74 W73] a client whose session starts slowly is not timed out', async () => {
  const { agent, release } = slowAgent();
  const target = await startTarget({ args: ['--ping-seconds', '1', '--agent-command', agent] });
  const early = await target.connect();
  early.send({ type: 'get_state', id: 'early' });
  const silent = await startTarget({ args: ['--ping-seconds', '1'] }).then((other) =>
    other.connect({}, { autoPong: false }),
  );

  // Waits as long as the server needs to time out a silent client.
  await silent.ended;
  release();

  expect(await early.find(({ id }) => id === 'early')).toMatchObject({ success: true });
});

// A thousand connections share the processor with the other tests.
const CROWD_MS = 240_000;

it(
  '[W75] one token may have 250 sockets, logins included, and all tokens 1000',
  async () => {
    // Sockets that wait for an agent cost little. It starts before the server gives up on it.
    const { agent, release } = slowAgent();
    const target = await startTarget({ args: ['--behind-proxy', '--agent-command', agent] });
    const session = { new: '019a0000-0000-7000-8000-000000000001' };
    const [first, ...others] = await Promise.all([1, 2, 3, 4, 5].map(() => newToken(target.home)));
    const crowd: TargetClient[] = [];
    const fill = async (token = '') => {
      for (let batch = 0; batch < 5; batch++)
        crowd.push(...(await Promise.all(Array.from({ length: 50 }, () => target.connect({ token, ...session })))));
    };
    const expectFull = async (client: TargetClient) => {
      expect(await client.ended).toEqual({ code: 1013, reason: 'Too many connections' });
      expect(client.records[0]).toMatchObject({ type: 'server_error', code: 'overloaded' });
    };
    const login = await target.post('/api/login', { token: first?.token });
    const headers = {
      cookie: String(login.headers['set-cookie']?.[0]).split(';')[0] ?? '',
      origin: `http://127.0.0.1:${target.port}`,
    };

    await fill(first?.token);
    release();
    await expectFull(await target.connect({ token: first?.token ?? '', ...session }));
    await expectFull(await target.connect({ token: null, ...session }, { headers }));
    for (const { token } of others.slice(0, 3)) await fill(token);
    await expectFull(await target.connect({ token: others[3]?.token ?? '', ...session }));

    crowd[0]?.socket.close();
    await crowd[0]?.ended;
    const again = await target.connect({ token: others[3]?.token ?? '', ...session });
    expect(again.socket.readyState).toBe(again.socket.OPEN);
  },
  CROWD_MS,
);

it('[W75] rejected connections are limited in number; more are refused before the upgrade', async () => {
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
      // It never completes the close, so that it stays until the close timeout.
      socket.once('data', (chunk) => resolve(chunk.toString().slice(9, 12)));
    });

  const statuses = await Promise.all(Array.from({ length: 120 }, statusOf));

  expect(statuses.filter((status) => status === '101')).toHaveLength(100);
  expect(statuses.filter((status) => status === '503')).toHaveLength(20);
  await (await target.connect()).location();
});

it('[W45] hundreds of silent sockets and partial requests do not lock out clients', async () => {
  const target = await startTarget();
  const client = await target.connect();
  await client.location();
  const partialRequests = [
    '',
    'GET /sess',
    `GET /session?token=${TARGET_TOKEN} HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nConnection: Upgrade\r\nUpgrade: webs`,
    `POST /api/login HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
  ];

  for (let index = 0; index < 300; index++) target.openSocket(partialRequests[index % partialRequests.length]);
  await expect.poll(async () => (await target.get('/healthz')).status).toBe(200);
  await (await target.connect()).location();

  await client.run('say hello');
});

it('[W77] one token may use half of the sessions, and idle agents are parked for new ones', async () => {
  const target = await startTarget({ args: ['--max-sessions', '4'] });
  const { token } = await newToken(target.home);
  const held = [await target.connect({ token }), await target.connect({ token })];
  await Promise.all(held.map((client) => client.location()));

  const third = await target.connect({ token });
  expect(await third.ended).toEqual({ code: 1013, reason: 'Too many sessions of one token' });
  for (let index = 0; index < 5; index++) {
    const client = await target.connect();
    await client.location();
    client.socket.close();
    await client.ended;
  }
  await Promise.all(held.map((client) => client.ok({ type: 'get_state' })));
});

it('[W72] a client that never reads is closed, and the others get every event', async () => {
  const script = [{ steps: [{ text: 'abcdefgh'.repeat(100), times: 20_000 }] }];
  const target = await startTarget({ script });
  const host = await target.connect({ stream: 'delta' });
  const { sessionId } = await host.location();
  const paused = await target.connect({ session: sessionId, stream: 'delta' });
  await paused.find('state_synced');
  paused.socket.pause();

  await host.run('a long answer');
  const { text } = await host.ok({ type: 'get_last_assistant_text' });
  paused.socket.resume();

  expect(text).toHaveLength(800 * 20_000);
  expect([1006, 4408]).toContain((await paused.ended).code);
});

it('[W36] listening on another address than loopback requires TLS or a proxy', async () => {
  const home = newHome();

  for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
    const { code, stderr, stdout } = await runTau(home, ['serve', '--host', host, '--port', '0']);

    expect([host, code, stdout]).toEqual([host, 1, '']);
    expect(stderr).toMatch(/^tau: cannot listen on \S+: others could read along\. Give --tls-cert and --tls-key/);
  }
});

it('[W36 A14] everything works over TLS, and its cookie is Secure', async () => {
  const target = await startTarget({ args: [...tlsFiles, '--host', '0.0.0.0'] });

  const client = await target.connect();
  await client.run('say hello');
  const login = await target.post('/api/login', { code: target.code });

  expect(target.socketUrl).toMatch(/^wss:/);
  expect(String(login.headers['set-cookie'])).toContain('; Secure');
  const plain = target.openSocket(`GET /healthz HTTP/1.1\r\nHost: localhost:${target.port}\r\n\r\n`);
  await new Promise((resolve) => plain.once('close', resolve));
  await client.ok({ type: 'get_state' });
});

it('[W39] the socket file needs no token and is accessible only to its owner', async () => {
  const home = newHome();
  const socketPath = join(home.root, 's.sock');
  const target = await startTarget({ home, args: ['--socket', socketPath] });

  const client = await target.connect({ token: null }, { url: `ws+unix://${socketPath}:/session` });
  await client.ok({ type: 'set_trust', trusted: true });
  const identity = await sendRequest({ socketPath, path: '/api/me' });

  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  expect(JSON.parse(identity.body)).toMatchObject({ name: 'owner' });
  expect((await target.get('/api/me')).status).toBe(401);
});

it('[W42] metrics and the session list require the view scope', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home, { scope: 'prompt' });
  const statuses = async (headers: Record<string, string>) =>
    Promise.all(['/metrics', '/api/sessions'].map(async (path) => (await target.get(path, { headers })).status));

  expect(await statuses({})).toEqual([401, 401]);
  expect(await statuses({ authorization: 'Bearer wrong' })).toEqual([401, 401]);
  expect(await statuses({ authorization: `Bearer ${token}` })).toEqual([403, 403]);
  expect(await statuses({ authorization: `Bearer ${TARGET_TOKEN}` })).toEqual([200, 200]);
});

it('[W78] the server writes nothing into the project, and its folder is private', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home);
  const client = await target.connect({ token });
  await client.run('say hello');
  await client.ok({ type: 'export_html' });

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

it('[W37] an upgrade with a body or on another path is rejected', async () => {
  const target = await startTarget();
  const statusCode = await new Promise<number>((resolve, reject) => {
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

  expect(statusCode).toBe(400);
  expect((await rejectedUpgrade(target.connect({}, { url: `${target.socketUrl}/` }))).status).toBe(404);
});
