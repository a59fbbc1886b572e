import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import { isBehindFront, newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';
import { storeShortSession } from '../../support/sessions/stored-session.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

const fileOf = async (peer: RemotePeer): Promise<string> => (await peer.ok({ type: 'get_state' })).sessionFile;

/** Checks that a file is in the trash. Other nodes keep their copies of a deleted session. */
const expectRemoved = (path: string) => expect(isBehindFront || !existsSync(path)).toBe(true);

itOnOneServer('the status of sessions of other nodes may be some seconds old')(
  '[W81] `list_sessions` returns running, waiting or idle per session; a parked session has no status',
  async () => {
    const gate = newGate();
    const server = await startServer({
      script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^run' }, ...TALK],
      agentArgs: ['-e', fixture('dialogs')],
      args: ['--park-after', '0'],
    });
    const [running, waiting, idle, parked] = (await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const peer = await server.attach();
        await peer.run('Hi');
        return peer;
      }),
    )) as [RemotePeer, RemotePeer, RemotePeer, RemotePeer];
    await running.ok({ type: 'prompt', message: 'run' });
    await running.next('message_update');
    await waiting.ok({ type: 'prompt', message: '/interview' });
    await nextUiRequest(waiting, 'select');
    await parked.disconnect();

    const statuses = async () => {
      const { sessions } = await idle.ok({ type: 'list_sessions' });
      return Object.fromEntries(sessions.map(({ id, status }: { id: string; status?: string }) => [id, status]));
    };
    let now = await statuses();
    while (now[parked.cursor.session] !== undefined) now = await statuses();

    expect(now).toEqual({
      [running.cursor.session]: 'running',
      [waiting.cursor.session]: 'waiting',
      [idle.cursor.session]: 'idle',
      [parked.cursor.session]: undefined,
    });
    const listed = (await (await server.get('/api/sessions')).json()) as { sessions: object[] };
    expect(listed.sessions).toEqual((await idle.ok({ type: 'list_sessions' })).sessions);
  },
);

it('[W82] `export_html` returns a URL that works once', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('Hi');

  const { path, url } = await peer.ok({ type: 'export_html' });
  expect(path.startsWith(isBehindFront ? server.home.root : server.home.agentDir)).toBe(true);
  const page = await server.get(url);

  expect(page.status).toBe(200);
  expect(page.headers.get('content-disposition')).toContain('attachment');
  expect(await page.text()).toContain('<html');
  expect((await server.get(url)).status).toBe(404);
});

it('[W82] exports are deleted when the server ends', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('Hi');
  const { path } = await peer.ok({ type: 'export_html' });

  server.kill('SIGTERM');
  await server.exited;

  expect(existsSync(path)).toBe(false);
});

it('[W82] `outputPath` is relative to the session folder and limited to the allowed paths', async () => {
  const home = newHome();
  const guest = { name: 'Guest', allowedPaths: [home.cwd] };
  const server = await startServer({ home, script: TALK, tokens: { 'token-of-a-guest': guest } });
  const peer = await server.attach({ token: 'token-of-a-guest' });
  await peer.run('Hi');
  mkdirSync(join(home.root, 'outside'));
  symlinkSync(join(home.root, 'outside'), join(home.cwd, 'link'));

  for (const outputPath of ['../page.html', join(home.root, 'page.html'), 'link/page.html']) {
    expect(await peer.refused({ type: 'export_html', outputPath })).toMatchObject({ code: 'permission_denied' });
  }
  const { path, url } = await peer.ok({ type: 'export_html', outputPath: 'page.html' });

  expect(path).toBe(join(home.cwd, 'page.html'));
  expect(readFileSync(path, 'utf8')).toContain('<html');
  expect(
    (
      await fetch(new URL(url, server.url.replace('ws', 'http')), {
        headers: { authorization: 'Bearer token-of-a-guest' },
      })
    ).status,
  ).toBe(200);
  expect(readdirSync(join(home.root, 'outside'))).toEqual([]);
});

/** Two clients in separate sessions; the file is that of the first. */
async function twoSessions() {
  const server = await startServer({ script: TALK });
  const first = await server.attach();
  await first.run('Hi');
  const sessionPath = await fileOf(first);
  const second = await server.attach();
  await second.run('Hi');
  return { server, first, second, sessionPath };
}

it('[W83] delete_session rejects a session with clients, and deletes one without, parked or not', async () => {
  const { server, first, second, sessionPath } = await twoSessions();

  expect(await second.refused({ type: 'delete_session', sessionPath })).toMatchObject({ code: 'session_in_use' });
  expect(await second.refused({ type: 'delete_session', sessionPath: await fileOf(second) })).toMatchObject({
    code: 'session_in_use',
  });
  const other = await server.attach({ session: first.cursor.session });
  await first.disconnect();
  await other.disconnect();
  await second.ok({ type: 'get_state' });
  let response = await second.request({ type: 'delete_session', sessionPath });
  while (response['code'] === 'session_in_use')
    response = await second.request({ type: 'delete_session', sessionPath });

  expect(response).toMatchObject({ success: true });
  expectRemoved(sessionPath);
  expect(await server.connect({ session: first.cursor.session }).ended).toMatchObject({ code: 4404 });
});

it('[W83] rename_session renames a live session through its agent and notifies its clients', async () => {
  const { first, second, sessionPath } = await twoSessions();

  await second.ok({ type: 'rename_session', sessionPath, name: 'Theirs' });

  expect(await first.next('session_info_changed')).toMatchObject({ name: 'Theirs' });
  expect(await first.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'Theirs' });
  const { sessions } = await second.ok({ type: 'list_sessions' });
  expect(sessions.find(({ id }: { id: string }) => id === first.cursor.session)).toMatchObject({ name: 'Theirs' });
});

it('[W83] rename_session renames a parked session on disk', async () => {
  const server = await startServer({ script: TALK, args: ['--park-after', '0'] });
  const first = await server.attach();
  await first.run('Hi');
  const sessionPath = await fileOf(first);
  await first.disconnect();
  const second = await server.attach();

  await second.ok({ type: 'rename_session', sessionPath, name: 'Theirs' });

  const back = await server.attach({ session: first.cursor.session });
  expect(await back.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'Theirs' });
  expect(readSessionFile(sessionPath).filter(({ type }) => type === 'session_info')).toHaveLength(1);
});

it('[W131] stop "run" deletes a session without clients and spares others, stop "all" disconnects them with 4404', async () => {
  const gate = newGate();
  const server = await startServer({ script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }] });
  const [first, left] = await Promise.all([server.attach(), server.attach()]);
  for (const peer of [first, left]) {
    await peer.ok({ type: 'prompt', message: 'Go' });
    await peer.next('message_update');
  }
  const [sessionPath, leftPath] = [await fileOf(first), await fileOf(left)];
  const second = await server.attach();

  const spared = await second.refused({ type: 'delete_session', sessionPath, stop: 'run' });
  const { isStreaming } = await first.ok({ type: 'get_state' });
  await second.ok({ type: 'delete_session', sessionPath, stop: 'all' });
  await left.disconnect();
  // The server notices the disconnect in its own time.
  let response = await second.request({ type: 'delete_session', sessionPath: leftPath, stop: 'run' });
  while (response['code'] === 'session_in_use')
    response = await second.request({ type: 'delete_session', sessionPath: leftPath, stop: 'run' });

  expect(spared).toMatchObject({ code: 'session_in_use' });
  expect(isStreaming).toBe(true);
  expect(await first.ended).toMatchObject({ code: 4404 });
  expect(response).toMatchObject({ success: true });
  expectRemoved(sessionPath);
  expectRemoved(leftPath);
});

it('[W107] a page of the session list holds at most 1000 sessions, whatever its limit', async () => {
  const home = newHome();
  for (let index = 0; index < 1001; index++) storeShortSession(home, `stored-${index}`, 'Hi');
  const server = await startServer({ home, script: TALK });
  const pageOf = async (query: string) => (await server.get(`/api/sessions?${query}`)).json();

  const first = (await pageOf('limit=1000000')) as { sessions: { id: string }[]; nextCursor: string };
  const second = (await pageOf(`cursor=${encodeURIComponent(first.nextCursor)}`)) as typeof first;

  expect(first.sessions).toHaveLength(1000);
  expect(new Set([...first.sessions, ...second.sessions].map(({ id }) => id)).size).toBe(1001);
  expect(second.nextCursor).toBeUndefined();
});
