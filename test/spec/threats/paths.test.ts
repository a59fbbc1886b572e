import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { newToken, startTarget, TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';

/** A server with sessions in an allowed folder, in one with the same prefix and in one outside. */
interface PathFixture {
  readonly target: Target;
  readonly home: Home;
  readonly allowed: string;
  readonly sibling: string;
  readonly outside: string;
  /** Grants access to the allowed folder only. */
  readonly token: string;
  readonly sessions: Readonly<Record<'allowed' | 'sibling' | 'outside', { sessionId: string; sessionFile: string }>>;
}

async function startPathFixture(): Promise<PathFixture> {
  const home = newHome();
  const [allowed, sibling, outside] = ['allowed', 'allowed-evil', 'outside'].map((name) => join(home.root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [allowed, sibling, outside]) mkdirSync(folder);
  const target = await startTarget({ home });
  const { token } = await newToken(home, { scope: 'view,prompt,bash', path: [allowed] });
  const session = async (cwd: string) => {
    const client = await target.connect({ cwd });
    const location = await client.location();
    await client.run(`say hello from ${cwd}`);
    client.socket.close();
    await client.ended;
    return location;
  };
  const sessions = {
    allowed: await session(allowed),
    sibling: await session(sibling),
    outside: await session(outside),
  };
  return { target, home, allowed, sibling, outside, token, sessions };
}

const makePipe = (path: string) => {
  execFileSync('mkfifo', [path]);
  return path;
};

it('[A7] a new session must be in an allowed folder after links are resolved', async () => {
  const { target, allowed, sibling, outside, token, home } = await startPathFixture();
  mkdirSync(join(allowed, 'inner'));
  symlinkSync(outside, join(allowed, 'out'));
  symlinkSync(allowed, join(outside, 'in'));
  writeFileSync(join(allowed, 'file'), '');
  const denied = [
    outside,
    sibling,
    `${allowed}/../outside`,
    `${allowed}/out`,
    `${allowed}/out/not-yet`,
    `${allowed}/inner/../../allowed-evil`,
    '/',
    '/proc/self/cwd',
    `${allowed}\0/../outside`,
    home.root,
    '~',
    '..',
  ];

  for (const cwd of denied) {
    const { code, reason } = await (await target.connect({ token, cwd })).ended;

    expect([cwd, code]).toEqual([cwd, 4403]);
    expect(reason).toMatch(/^Permission denied/);
  }
  for (const cwd of [allowed, `${allowed}/inner/..`, `${outside}/in`, `${allowed}/inner`]) {
    await (await target.connect({ token, cwd })).location();
  }
  for (const cwd of [`${allowed}/not-yet`, `${allowed}/file`]) {
    expect(await (await target.connect({ token, cwd })).ended).toMatchObject({ code: 4400 });
  }
  const inDefaultFolder = await target.connect({ token });
  expect((await inDefaultFolder.ended).code).toBe(4403);
  expect(inDefaultFolder.texts.join()).not.toContain(home.cwd);
});

it('[A7] a session of another folder is not found, with the same message as a missing one', async () => {
  const { target, home, allowed, outside, token, sessions } = await startPathFixture();
  const stolen = join(allowed, 'stolen.jsonl');
  symlinkSync(sessions.outside.sessionFile, stolen);
  const elsewhere = join(outside, 'elsewhere.jsonl');
  copyFileSync(sessions.allowed.sessionFile, elsewhere);
  symlinkSync(elsewhere, join(allowed, 'led-out.jsonl'));
  const forbidden = [
    sessions.outside.sessionFile,
    sessions.outside.sessionId,
    sessions.sibling.sessionFile,
    sessions.sibling.sessionId,
    join(allowed, '..', 'agent', 'sessions', sessions.outside.sessionFile.split('/sessions/')[1] ?? ''),
    stolen,
    elsewhere,
    join(allowed, 'led-out.jsonl'),
    join(home.agentDir, 'auth.json'),
    '/etc/passwd',
    '/proc/self/environ',
    '/proc/self/fd/0',
    '/dev/zero',
    outside,
    allowed,
    `${sessions.allowed.sessionFile}\0.jsonl`,
    '~/x.jsonl',
    '../x.jsonl',
    makePipe(join(allowed, 'pipe.jsonl')),
    '019a0000-0000-7000-8000-00000000dead',
    join(allowed, 'missing.jsonl'),
    'no such thing',
  ];

  for (const session of forbidden) {
    const client = await target.connect({ token, session });

    expect([session, (await client.ended).code]).toEqual([session, 4404]);
    expect(client.records).toMatchObject([
      { type: 'server_error', error: `Session not found: ${session}`, code: 'session_not_found' },
      { type: 'server_disconnected', code: 4404 },
    ]);
  }
  for (const session of [sessions.allowed.sessionFile, sessions.allowed.sessionId]) {
    expect(await (await target.connect({ token, session })).location()).toEqual(sessions.allowed);
  }
});

it('[A7] `new` with the id of a foreign session gives no access to it', async () => {
  const { target, allowed, outside, token, sessions } = await startPathFixture();
  const live = await target.connect({ cwd: outside, new: '019a0000-0000-7000-8000-00000000beef' });
  await live.location();

  for (const id of [sessions.outside.sessionId, '019a0000-0000-7000-8000-00000000beef']) {
    const tries = [
      { new: id, cwd: allowed },
      { session: id, cwd: allowed },
      { new: id, session: id, cwd: allowed },
    ];
    for (const query of tries) {
      expect(await (await target.connect({ token, ...query })).ended).toMatchObject({ code: 4404 });
    }
  }
  for (const id of ['../x', 'a/b', 'x'.repeat(200), '..', '-x']) {
    expect(await (await target.connect({ new: id })).ended).toMatchObject({ code: 4400 });
  }
});

it('[A7] commands cannot switch to, inherit, delete or rename a session outside the allowed folders', async () => {
  const { target, home, allowed, outside, token, sessions } = await startPathFixture();
  const client = await target.connect({ token, cwd: allowed });
  await client.location();
  mkdirSync(join(allowed, '~'));
  copyFileSync(sessions.allowed.sessionFile, join(allowed, '~', 'x.jsonl'));
  copyFileSync(sessions.outside.sessionFile, join(home.root, 'x.jsonl'));
  symlinkSync(sessions.outside.sessionFile, join(allowed, 'link.jsonl'));
  const paths = [
    sessions.outside.sessionFile,
    sessions.sibling.sessionFile,
    'link.jsonl',
    '../outside/missing.jsonl',
    join(outside, 'missing.jsonl'),
    makePipe(join(allowed, 'pipe.jsonl')),
    '/dev/zero',
    '.',
    'a\0b',
  ];
  const before = readFileSync(sessions.outside.sessionFile, 'utf8');

  for (const path of paths) {
    const responses = [
      await client.refused({ type: 'switch_session', sessionPath: path }),
      await client.refused({ type: 'switch_session', sessionPath: path, detached: true }),
      await client.refused({ type: 'new_session', parentSession: path }),
      await client.refused({ type: 'new_session', parentSession: path, detached: true }),
      await client.refused({ type: 'delete_session', sessionPath: path }),
      await client.refused({ type: 'rename_session', sessionPath: path, name: 'mine' }),
    ];
    for (const response of responses) {
      expect(response).toMatchObject({ code: 'session_not_found', error: `Session not found: ${path}` });
    }
  }
  expect(readFileSync(sessions.outside.sessionFile, 'utf8')).toBe(before);
  await client.ok({ type: 'rename_session', sessionPath: '~/x.jsonl', name: 'mine' });
  expect(readFileSync(join(home.root, 'x.jsonl'), 'utf8')).toBe(before);
  expect(await client.ok({ type: 'switch_session', sessionPath: sessions.allowed.sessionFile })).toMatchObject({
    cancelled: false,
  });
});

it('[S72] a token with paths restores only sessions of its folders; other trash is not found', async () => {
  const { target, allowed, outside, token, sessions } = await startPathFixture();
  const owner = await target.connect({ cwd: outside });
  await owner.location();
  const hidden = await owner.ok({ type: 'delete_session', sessionPath: sessions.outside.sessionFile });
  const client = await target.connect({ token, cwd: allowed });
  await client.location();
  const own = await client.ok({ type: 'delete_session', sessionPath: sessions.allowed.sessionFile });

  for (const trashPath of [hidden.trashPath, join(outside, '.trash', 'missing.jsonl'), '/dev/zero', 'a\0b'])
    expect(await client.refused({ type: 'restore_session', trashPath })).toMatchObject({
      code: 'session_not_found',
      error: `Session not found: ${trashPath}`,
    });
  expect(existsSync(hidden.trashPath)).toBe(true);
  expect(await client.ok({ type: 'restore_session', ...own })).toEqual({ sessionPath: sessions.allowed.sessionFile });
  const again = await target.connect({ token, session: sessions.allowed.sessionId });
  expect(await again.location()).toMatchObject({ sessionFile: sessions.allowed.sessionFile });
});

it('[S72] restore_session requires the scope prompt', async () => {
  const { target, home, allowed, sessions } = await startPathFixture();
  const owner = await target.connect({ cwd: allowed });
  await owner.location();
  const { trashPath } = await owner.ok({ type: 'delete_session', sessionPath: sessions.allowed.sessionFile });
  const { token } = await newToken(home, { scope: 'view' });
  const viewer = await target.connect({ token, session: sessions.outside.sessionId });
  await viewer.location();

  expect(await viewer.refused({ type: 'restore_session', trashPath })).toMatchObject({ code: 'permission_denied' });
  expect(existsSync(trashPath)).toBe(true);
});

it('[A7] an export is written only to the allowed folders, and without a path it is downloadable', async () => {
  const { target, home, allowed, sibling, outside, token, sessions } = await startPathFixture();
  symlinkSync(outside, join(allowed, 'out'));
  symlinkSync(join(outside, 'dangling.html'), join(allowed, 'dangling.html'));
  const client = await target.connect({ token, session: sessions.allowed.sessionId });
  const denied = [
    join(outside, 'page.html'),
    join(sibling, 'page.html'),
    '../page.html',
    'out/page.html',
    'out/new/page.html',
    'dangling.html',
    `${allowed}/../outside/page.html`,
  ];

  for (const outputPath of denied) {
    expect(await client.refused({ type: 'export_html', outputPath })).toMatchObject({
      code: 'permission_denied',
      error: `Permission denied: ${outputPath}`,
    });
    const builtin = { type: 'prompt', message: `/export ${outputPath}`, builtins: true };
    expect(await client.refused(builtin)).toMatchObject({ code: 'permission_denied' });
    expect(await client.refused({ ...builtin, type: 'abort_and_prompt' })).toMatchObject({ code: 'permission_denied' });
  }
  expect([outside, sibling, home.root].filter((folder) => existsSync(join(folder, 'page.html')))).toEqual([]);
  const { path } = await client.ok({ type: 'export_html', outputPath: 'page.html' });
  expect(path).toBe(join(allowed, 'page.html'));
  const { url } = await client.ok({ type: 'export_html' });
  const page = await target.get(url);
  expect([page.status, page.headers['content-disposition']?.startsWith('attachment')]).toEqual([200, true]);
  expect((await target.get(url)).status).toBe(404);
  await client.ok({ type: 'get_state' });
});

it('[A7] session lists contain only allowed sessions, including their cursors and lengths', async () => {
  const { target, allowed, outside, token, sessions } = await startPathFixture();
  const client = await target.connect({ token, cwd: allowed });
  const headers = { authorization: `Bearer ${token}` };
  const pages: string[] = [];
  const listed: string[] = [];

  let cursor: string | undefined;
  do {
    const page = await client.ok({ type: 'list_sessions', limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(Buffer.from(page.nextCursor ?? '', 'base64url').toString());
    listed.push(...page.sessions.map(({ id }: { id: string }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const http = await target.get('/api/sessions?limit=1', { headers });

  expect(listed).toEqual([sessions.allowed.sessionId]);
  expect(JSON.parse(http.body)).toEqual({ sessions: [expect.objectContaining({ id: sessions.allowed.sessionId })] });
  for (const cursorText of pages) expect(cursorText).not.toMatch(/outside|evil/);
  for (const cwd of [outside, '..', '../allowed-evil']) {
    expect(await client.refused({ type: 'list_sessions', cwd })).toMatchObject({ code: 'permission_denied' });
    expect((await target.get(`/api/sessions?cwd=${encodeURIComponent(cwd)}`, { headers })).status).toBe(403);
  }
  const all = JSON.parse(
    (await target.get('/api/sessions', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } })).body,
  );
  expect(all.sessions).toHaveLength(3);
});

it('[A7] a session whose folder was deleted does not open in another folder', async () => {
  const { target, allowed, token, home } = await startPathFixture();
  const folder = join(allowed, 'doomed');
  mkdirSync(folder);
  const client = await target.connect({ cwd: folder });
  const { sessionId } = await client.location();
  await client.run('say hello');
  await target.stop();
  rmSync(folder, { recursive: true });
  const again = await startTarget({ home });

  const guest = await again.connect({ token, session: sessionId });

  expect(await guest.ended).toMatchObject({ code: 4404 });
});

it('[A7] pipes, devices and huge files are rejected as sessions at no cost', async () => {
  const target = await startTarget();
  const folder = target.home.root;
  const huge = join(folder, 'huge.jsonl');
  writeFileSync(huge, '');
  truncateSync(huge, 8 * 1024 ** 3);
  const names = [
    makePipe(join(folder, 'p.jsonl')),
    huge,
    '/dev/zero',
    '/dev/random',
    '/proc/kmsg',
    folder,
    '/proc/self/mem',
  ];

  const ends = await Promise.all(names.map(async (session) => (await target.connect({ session })).ended));

  for (const [index, { code, reason }] of ends.entries()) {
    expect([names[index], code]).toEqual([names[index], 4404]);
    expect(reason).toMatch(/^(Not a session file|Session not found): /);
  }
  expect((await target.get('/healthz')).status).toBe(200);
});

it('[A7] a client does not follow its agent to a folder that it may not open', async () => {
  const home = newHome();
  mkdirSync(join(home.agentDir, 'extensions'), { recursive: true });
  writeFileSync(
    join(home.agentDir, 'extensions', 'away.ts'),
    `export default (pi) => pi.registerCommand('away', { handler: (args, ctx) => ctx.switchSession(args) });`,
  );
  const [allowed, outside] = ['allowed', 'outside'].map((name) => join(home.root, name)) as [string, string];
  for (const folder of [allowed, outside]) mkdirSync(folder);
  const target = await startTarget({ home });
  const { token } = await newToken(home, { scope: 'view', path: [allowed] });
  const hidden = await target.connect({ cwd: outside });
  const { sessionFile } = await hidden.location();
  await hidden.run('say a hidden word');
  await target.stop();
  const again = await startTarget({ home });
  const host = await again.connect({ cwd: allowed });
  const guest = await again.connect({ token, session: (await host.location()).sessionId });
  await guest.location();

  host.send({ type: 'prompt', message: `/away ${sessionFile}` });

  expect(await guest.ended).toMatchObject({ code: 4404 });
  expect(guest.texts.join('\n')).not.toMatch(/hidden word|outside/);
  await host.next('server_connected');
  expect(await host.next('server_connected')).toMatchObject({ sessionFile });
});

it('[W79] a cursor of another session leads to a snapshot without data of that session', async () => {
  const target = await startTarget();
  const firstClient = await target.connect({ stream: 'delta' });
  await firstClient.run('say a word of the first session');
  const { epoch } = await firstClient.find('server_connected');
  const other = await target.connect({ stream: 'delta' });
  const { sessionId } = await other.location();

  for (const cursor of [
    { epoch: String(epoch), after: '1' },
    { epoch: 'made-up', after: '0' },
    { epoch: String((await other.find('server_connected'))['epoch']), after: '9007199254740991' },
  ]) {
    const client = await target.connect({ session: sessionId, stream: 'delta', ...cursor });

    expect(await client.find('server_connected')).toMatchObject({ sessionId, resume: 'gap' });
    await client.find('state_synced');
    expect(client.texts.join('\n')).not.toContain('first session');
  }
});
