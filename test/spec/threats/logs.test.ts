import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { accessAuditPath, auditPath } from '../../../src/server/auth/audit.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import {
  filesBelow,
  newToken,
  readAll,
  secretsIn,
  startTarget,
  TARGET_TOKEN,
} from '../../support/server/attack-target.ts';

const pairOf = (setCookie: readonly string[] | undefined) => setCookie?.[0]?.split(';')[0] ?? '';

const LOG_FILES = process.env['SOAK'] ? ['x.jsonl', 'x.log'] : ['x.jsonl'];

it.each(LOG_FILES)('[W49 W78] a hostile run leaves no secret in %s, in the audit log or on stderr', async (name) => {
  const home = newHome();
  const logFile = join(home.root, name);
  const target = await startTarget({
    home,
    args: ['--log-level', 'debug', '--log-file', logFile],
    env: { ANTHROPIC_API_KEY: 'sk-ant-of-the-environment' },
  });
  const origin = `http://127.0.0.1:${target.port}`;
  const created = await newToken(home);
  const login = await target.post('/api/login', { code: target.code });
  const cookie = pairOf(login.headers['set-cookie']);
  const client = await target.connect({ token: created.token });
  const page = await target.connect({ token: null }, { headers: { cookie, origin } });
  const owner = await target.connect();
  const exported = async () => (await client.ok({ type: 'export_html' })).url as string;

  await client.run('say the-words-of-a-prompt');
  await owner.ok({ type: 'set_credential', provider: 'openai', apiKey: 'sk-set-by-a-command' });
  await owner.ok({ type: 'bash', command: 'echo the-words-of-a-command' });
  await owner.ok({ type: 'set_session_name', name: 'the-name-of-a-session' });
  const url = await exported();
  await target.get(url);
  await page.ok({ type: 'get_state' });
  await target.get(`/api/me?token=${created.token}`, { headers: { authorization: `Bearer ${created.token}` } });
  await target.get(`/x/${created.token}/y?code=${target.code}`, { headers: { cookie } });
  await target.get(`/;token=a-short-secret`, { headers: { referer: `${origin}/#code=${target.code}` } });
  await target.get('/healthz', { headers: { origin: `http://evil.example/?token=${created.token}` } });
  await target.get('/healthz', { headers: { host: `token=${created.token}` } });
  await target.get('/healthz', { headers: { 'x-forwarded-for': `${created.token}, ::1` } });
  await target.post('/api/login', { token: 'a-wrong-token-of-somebody' });
  await target.post('/api/login', `{"token":"${created.token}`);
  await target.connect({ token: 'a-wrong-token-of-somebody' });
  await target.connect({ session: `/nowhere/${created.token}.jsonl` });
  client.send(`{"type":"prompt","message":"the-words-of-a-prompt ${created.token}`);
  await client.ok({ type: 'get_state' });
  await target.post('/api/logout', '', { cookie, origin });
  await page.ended;
  await target.stop();

  const secrets = {
    owner: TARGET_TOKEN,
    token: created.token,
    code: target.code,
    cookie: cookie.split('=')[1] as string,
    download: url.split('/').at(-1) as string,
    environment: 'sk-ant-of-the-environment',
    credential: 'sk-set-by-a-command',
    prompt: 'the-words-of-a-prompt',
    command: 'the-words-of-a-command',
    session: 'the-name-of-a-session',
    wrong: 'a-wrong-token-of-somebody',
    short: 'a-short-secret',
  };
  const log = readFileSync(logFile, 'utf8');
  const serverFiles = filesBelow(join(home.agentDir, 'server'));
  expect(secretsIn(log, secrets)).toEqual([]);
  expect(secretsIn(readAll(serverFiles), secrets)).toEqual([]);
  expect(secretsIn(target.stderr(), secrets)).toEqual([]);
  expect(log).toMatch(/refused token/);
  expect(log).toMatch(/refused origin/);
  expect(existsSync(join(home.agentDir, 'server', 'exports'))).toBe(false);
});

it('[W49] a request cannot forge log lines or write control characters', async () => {
  const home = newHome();
  const logFile = join(home.root, 'x.log');
  const target = await startTarget({ home, args: ['--log-level', 'debug', '--log-file', logFile] });
  const forged = '2030-01-01T00:00:00.000Z error server all is lost';
  const raw = async (...lines: string[]) => {
    const socket = target.openSocket(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.resume().once('close', resolve));
  };

  await raw('GET /healthz HTTP/1.1', `Host: evil\u001b[2J\u009b31m ${forged}`);
  await raw('GET /healthz HTTP/1.1', `Host: 127.0.0.1:${target.port}`, `Origin: \u202e${forged}`);
  await raw(`GET /%0a${encodeURIComponent(forged)} HTTP/1.1`, `Host: 127.0.0.1:${target.port}`);
  await raw(`GET /x\u2028${forged.replaceAll(' ', '%20')} HTTP/1.1`, `Host: 127.0.0.1:${target.port}`);
  await (await target.connect({ session: `\n${forged}\u001b[2J` })).ended;
  await (await target.connect({ cwd: `/nowhere\n${forged}` })).ended;
  const client = await target.connect();
  await client.ok({ type: 'set_session_name', name: `a\u001b[2J\nname ${forged}` });
  await target.stop();

  const log = readFileSync(logFile, 'utf8');
  const audit = readAll([auditPath(home.agentDir), accessAuditPath(home.agentDir)]);
  for (const text of [log, audit, target.stderr()]) {
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(text.split('\n').filter((line) => line.startsWith('2030-'))).toEqual([]);
  }
  for (const line of audit.split('\n').filter(Boolean)) JSON.parse(line);
});
