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
import { newToken, TARGET_TOKEN, startTarget, type Target } from '../../support/server/attack-target.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';

/** A user with an allowed folder, one beside it whose name begins alike, and one elsewhere. */
interface Scene {
  readonly target: Target;
  readonly home: Home;
  readonly allowed: string;
  readonly sibling: string;
  readonly outside: string;
  /** Opens the allowed folder only. */
  readonly token: string;
  readonly sessions: Readonly<Record<'allowed' | 'sibling' | 'outside', { sessionId: string; sessionFile: string }>>;
}

async function scene(): Promise<Scene> {
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
    const visitor = await target.connect({ cwd });
    const place = await visitor.location();
    await visitor.run(`say hello from ${cwd}`);
    visitor.socket.close();
    await visitor.ended;
    return place;
  };
  const sessions = {
    allowed: await session(allowed),
    sibling: await session(sibling),
    outside: await session(outside),
  };
  return { target, home, allowed, sibling, outside, token, sessions };
}

const pipe = (path: string) => {
  execFileSync('mkfifo', [path]);
  return path;
};

it('[A7] the folder of a new session is within the allowed ones, once every link is followed', async () => {
  const { target, allowed, sibling, outside, token, home } = await scene();
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
  const usual = await target.connect({ token });
  expect((await usual.ended).code).toBe(4403);
  expect(usual.texts.join()).not.toContain(home.cwd);
});

it('[A7] a session of another folder is not there, however it is named, and in the words for one that is not', async () => {
  const { target, home, allowed, outside, token, sessions } = await scene();
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
    pipe(join(allowed, 'pipe.jsonl')),
    '019a0000-0000-7000-8000-00000000dead',
    join(allowed, 'missing.jsonl'),
    'no such thing',
  ];

  for (const session of forbidden) {
    const visitor = await target.connect({ token, session });

    expect([session, (await visitor.ended).code]).toEqual([session, 4404]);
    expect(visitor.records).toMatchObject([
      { type: 'server_error', error: `Session not found: ${session}`, code: 'session_not_found' },
      { type: 'server_disconnected', code: 4404 },
    ]);
  }
  for (const session of [sessions.allowed.sessionFile, sessions.allowed.sessionId]) {
    expect(await (await target.connect({ token, session })).location()).toEqual(sessions.allowed);
  }
});

it('[A7] a session of somebody else cannot be had by naming a new one so', async () => {
  const { target, allowed, outside, token, sessions } = await scene();
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

it('[A7] commands open, name, delete and rename nothing outside the allowed folders, and say the same of what is missing', async () => {
  const { target, home, allowed, outside, token, sessions } = await scene();
  const visitor = await target.connect({ token, cwd: allowed });
  await visitor.location();
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
    pipe(join(allowed, 'pipe.jsonl')),
    '/dev/zero',
    '.',
    'a\0b',
  ];
  const before = readFileSync(sessions.outside.sessionFile, 'utf8');

  for (const path of paths) {
    const answers = [
      await visitor.refused({ type: 'switch_session', sessionPath: path }),
      await visitor.refused({ type: 'switch_session', sessionPath: path, detached: true }),
      await visitor.refused({ type: 'new_session', parentSession: path }),
      await visitor.refused({ type: 'new_session', parentSession: path, detached: true }),
      await visitor.refused({ type: 'delete_session', sessionPath: path }),
      await visitor.refused({ type: 'rename_session', sessionPath: path, name: 'mine' }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ code: 'session_not_found', error: `Session not found: ${path}` });
    }
  }
  expect(readFileSync(sessions.outside.sessionFile, 'utf8')).toBe(before);
  await visitor.ok({ type: 'rename_session', sessionPath: '~/x.jsonl', name: 'mine' });
  expect(readFileSync(join(home.root, 'x.jsonl'), 'utf8')).toBe(before);
  expect(await visitor.ok({ type: 'switch_session', sessionPath: sessions.allowed.sessionFile })).toMatchObject({
    cancelled: false,
  });
});

it('[A7] an export is written within the allowed folders only, and can be fetched where none is named', async () => {
  const { target, home, allowed, sibling, outside, token, sessions } = await scene();
  symlinkSync(outside, join(allowed, 'out'));
  symlinkSync(join(outside, 'dangling.html'), join(allowed, 'dangling.html'));
  const visitor = await target.connect({ token, session: sessions.allowed.sessionId });
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
    expect(await visitor.refused({ type: 'export_html', outputPath })).toMatchObject({
      code: 'permission_denied',
      error: `Permission denied: ${outputPath}`,
    });
    const typed = { type: 'prompt', message: `/export ${outputPath}`, builtins: true };
    expect(await visitor.refused(typed)).toMatchObject({ code: 'permission_denied' });
    expect(await visitor.refused({ ...typed, type: 'abort_and_prompt' })).toMatchObject({ code: 'permission_denied' });
  }
  expect([outside, sibling, home.root].filter((folder) => existsSync(join(folder, 'page.html')))).toEqual([]);
  const { path } = await visitor.ok({ type: 'export_html', outputPath: 'page.html' });
  expect(path).toBe(join(allowed, 'page.html'));
  const { url } = await visitor.ok({ type: 'export_html' });
  const page = await target.get(url);
  expect([page.status, page.headers['content-disposition']?.startsWith('attachment')]).toEqual([200, true]);
  expect((await target.get(url)).status).toBe(404);
  await visitor.ok({ type: 'get_state' });
});

it('[A7] lists tell of nothing else, not even in their cursors or in how many there are', async () => {
  const { target, allowed, outside, token, sessions } = await scene();
  const visitor = await target.connect({ token, cwd: allowed });
  const headers = { authorization: `Bearer ${token}` };
  const pages: string[] = [];
  const listed: string[] = [];

  let cursor: string | undefined;
  do {
    const page = await visitor.ok({ type: 'list_sessions', limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(Buffer.from(page.nextCursor ?? '', 'base64url').toString());
    listed.push(...page.sessions.map(({ id }: { id: string }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const http = await target.get('/api/sessions?limit=1', { headers });

  expect(listed).toEqual([sessions.allowed.sessionId]);
  expect(JSON.parse(http.body)).toEqual({ sessions: [expect.objectContaining({ id: sessions.allowed.sessionId })] });
  for (const said of pages) expect(said).not.toMatch(/outside|evil/);
  for (const cwd of [outside, '..', '../allowed-evil']) {
    expect(await visitor.refused({ type: 'list_sessions', cwd })).toMatchObject({ code: 'permission_denied' });
    expect((await target.get(`/api/sessions?cwd=${encodeURIComponent(cwd)}`, { headers })).status).toBe(403);
  }
  const all = JSON.parse((await target.get('/api/sessions', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } })).body);
  expect(all.sessions).toHaveLength(3);
});

it('[A7] a session whose folder is gone opens no other folder in its place', async () => {
  const { target, allowed, token, home } = await scene();
  const folder = join(allowed, 'doomed');
  mkdirSync(folder);
  const visitor = await target.connect({ cwd: folder });
  const { sessionId } = await visitor.location();
  await visitor.run('say hello');
  await target.stop();
  rmSync(folder, { recursive: true });
  const again = await startTarget({ home });

  const guest = await again.connect({ token, session: sessionId });

  expect(await guest.ended).toMatchObject({ code: 4404 });
});

it('[A7] files that are no session cost nothing: pipes, devices and huge ones', async () => {
  const target = await startTarget();
  const folder = target.home.root;
  const huge = join(folder, 'huge.jsonl');
  writeFileSync(huge, '');
  truncateSync(huge, 8 * 1024 ** 3);
  const names = [
    pipe(join(folder, 'p.jsonl')),
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

it('[A7] a client is not taken along to a folder that it may not open', async () => {
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

it('[W79] a cursor of another session is none: there is a snapshot, and nothing of the other session', async () => {
  const target = await startTarget();
  const one = await target.connect({ stream: 'delta' });
  await one.run('say a word of the first session');
  const { epoch } = await one.find('server_connected');
  const other = await target.connect({ stream: 'delta' });
  const { sessionId } = await other.location();

  for (const cursor of [
    { epoch: String(epoch), after: '1' },
    { epoch: 'made-up', after: '0' },
    { epoch: String((await other.find('server_connected'))['epoch']), after: '9007199254740991' },
  ]) {
    const visitor = await target.connect({ session: sessionId, stream: 'delta', ...cursor });

    expect(await visitor.find('server_connected')).toMatchObject({ sessionId, resume: 'gap' });
    await visitor.find('state_synced');
    expect(visitor.texts.join('\n')).not.toContain('first session');
  }
});
