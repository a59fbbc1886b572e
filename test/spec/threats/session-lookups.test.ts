import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sessionDirFor } from '../../../src/store/agent-dir.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { newToken, startTarget, TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';
import { shortConversation } from '../../support/sessions/stored-session.ts';

const STORED = 300;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Stores a session below a project folder and returns its path. */
function store({ agentDir, cwd }: Home, id: string, project = cwd): string {
  const folder = sessionDirFor(agentDir, project);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  writeFileSync(
    path,
    shortConversation(cwd, { id })
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  return path;
}

async function startWithSessions() {
  const home = newHome();
  for (let number = 0; number < STORED; number++) store(home, `stored-${number}`, `/srv/project-${number % 5}`);
  const target = await startTarget({ home });
  const { token } = await newToken(home, { scope: 'view', path: [home.cwd] });
  return { home, target, token };
}

async function headersRead(target: Target): Promise<number> {
  const { body } = await target.get('/metrics', { headers: bearer(TARGET_TOKEN) });
  return Number(/^tau_session_headers_read_total (\d+)$/m.exec(body)?.[1]);
}

/** Requests the page of each session over one connection, without waiting for responses in between. */
async function loadPages(target: Target, token: string, sessions: readonly string[]): Promise<void> {
  const requests = sessions.map(
    (session, index) =>
      `GET /?session=${session} HTTP/1.1\r\nHost: localhost:${target.port}\r\nAuthorization: Bearer ${token}\r\n` +
      `Connection: ${index === sessions.length - 1 ? 'close' : 'keep-alive'}\r\n\r\n`,
  );
  const socket = target.openSocket(requests.join(''));
  await new Promise<void>((resolve) => socket.resume().once('close', () => resolve()));
}

it('[W112] pages of a thousand unknown sessions read each stored header once, and other clients are served', async () => {
  const { target, token } = await startWithSessions();
  const other = await target.connect();
  await other.location();

  await loadPages(
    target,
    token,
    Array.from({ length: 1000 }, (_, number) => `unknown-${number}`),
  );
  await other.ok({ type: 'ping' });
  await target.connect({ session: 'stored-7' });

  expect(await headersRead(target)).toBeLessThan(2 * STORED);
});

it('[W112] a session is found by its id as soon as its file is there, and no longer than that', async () => {
  const { home, target } = await startWithSessions();
  const closeCode = async (session: string) => (await (await target.connect({ session })).ended).code;
  const idOf = async (session: string) => (await (await target.connect({ session })).location()).sessionId;
  expect(await closeCode('late')).toBe(4404);

  const path = store(home, 'late');
  await expect.poll(async () => (await target.connect({ session: 'late' })).location()).toBeDefined();
  const renamed = store(home, 'first-id');
  expect(await idOf('first-id')).toBe('first-id');
  writeFileSync(
    renamed,
    shortConversation(home.cwd, { id: 'second-id' })
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );

  expect(await closeCode('absent')).toBe(4404);
  rmSync(path, { force: true });
  const moved = store(home, 'moving');
  renameSync(moved, `${moved}.jsonl`);
  expect(await idOf('moving')).toBe('moving');
});

it('[W113] a token that looks for many unknown sessions is refused, but not with a session that it may open', async () => {
  const { home, target, token } = await startWithSessions();
  const mine = await newToken(home, { scope: 'view', path: [home.cwd] });
  await loadPages(
    target,
    token,
    Array.from({ length: 300 }, (_, number) => `unknown-${number}`),
  );

  const refused = await (await target.connect({ token, session: 'unknown' })).ended;

  expect(refused).toMatchObject({ code: 1013 });
  expect(await (await target.connect({ token, session: 'stored-7' })).location()).toMatchObject({
    sessionId: 'stored-7',
  });
  expect(await (await target.connect({ token: mine.token, session: 'unknown' })).ended).toMatchObject({ code: 4404 });
});
