import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sessionDirFor } from '../../../src/store/agent-dir.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { newToken, startTarget, TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';
import { shortConversation } from '../../support/sessions/stored-session.ts';

/** Stores a session of a project folder and returns its path. */
function store(
  { agentDir }: Home,
  cwd: string,
  more: { readonly id: string; readonly parentSession?: string },
): string {
  mkdirSync(sessionDirFor(agentDir, cwd), { recursive: true });
  const path = join(sessionDirFor(agentDir, cwd), `${more.id}.jsonl`);
  const lines = shortConversation(cwd, more).map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.join(''));
  return path;
}

/** A server with an allowed folder and one outside, and a token that may view only the first. */
async function startLimited() {
  const home = newHome();
  const [allowed, outside] = [join(home.root, 'allowed'), join(home.root, 'outside')];
  for (const folder of [allowed, outside]) mkdirSync(folder);
  mkdirSync(join(home.agentDir, 'prompts'), { recursive: true });
  writeFileSync(join(home.agentDir, 'prompts', 'private.md'), '---\ndescription: A private template\n---\nHello');
  const parent = store(home, outside, { id: 'parent' });
  store(home, allowed, { id: 'child', parentSession: parent });
  const target = await startTarget({ home });
  const viewer = await newToken(home, { scope: 'view', path: [allowed] });
  return { home, target, allowed, outside, parent, viewer: viewer.token };
}

const closeOf = async (target: Target, query: Record<string, string>) => {
  const client = await target.connect(query);
  const { code } = await client.ended;
  return { code, error: client.records[0]?.['error'] };
};

it('[A24] a viewer cannot tell a file that is no session from a missing one', async () => {
  const { target, home } = await startLimited();
  const { token } = await newToken(home, { scope: 'view' });
  const promptScope = await newToken(home, { scope: 'view,prompt' });

  for (const session of ['/etc/passwd', '/etc/no-such-file', home.root, join(home.agentDir, 'settings.json')]) {
    expect(await closeOf(target, { token, session })).toEqual({ code: 4404, error: `Session not found: ${session}` });
  }
  expect(await closeOf(target, { token: promptScope.token, session: '/etc/passwd' })).toMatchObject({
    error: 'Not a session file: /etc/passwd',
  });
});

it('[A24] a path that is not named below an allowed folder is not looked at', async () => {
  const { target, allowed, outside, viewer } = await startLimited();
  const path = join(allowed, 'mine.jsonl');
  writeFileSync(
    path,
    shortConversation(allowed, { id: 'mine' })
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  symlinkSync(allowed, join(outside, 'in'));

  for (const session of [join(outside, 'in', 'mine.jsonl'), join(outside, 'in', 'missing.jsonl')]) {
    expect(await closeOf(target, { token: viewer, session })).toEqual({
      code: 4404,
      error: `Session not found: ${session}`,
    });
  }
  expect(await (await target.connect({ token: viewer, session: path })).location()).toMatchObject({
    sessionId: 'mine',
  });
});

it('[A25] a token with paths learns neither parents outside of them nor templates of the user', async () => {
  const { home, target, allowed, parent, viewer } = await startLimited();
  const child = join(sessionDirFor(home.agentDir, allowed), 'child.jsonl');
  store(home, allowed, { id: 'grandchild', parentSession: child });
  const look = async (token: string) => {
    const client = await target.connect({ token, session: 'child', entries: '1' });
    await client.location();
    const { sessions } = await client.ok({ type: 'list_sessions', cwd: allowed });
    const { commands } = await client.ok({ type: 'get_commands' });
    const header = await client.find(({ type, entry }) => type === 'entry_appended' && isHeader(entry));
    await client.ok({ type: 'get_entries' });
    return {
      parents: sessions.map(({ id, parentSession }: Record<string, string>) => [id, parentSession]).sort(),
      commands,
      header: header['entry'],
      text: client.texts.join('\n'),
    };
  };

  const prompter = await newToken(home, { scope: 'view,prompt', path: [allowed] });
  const [ofOwner, ofViewer, ofPrompter] = [await look(TARGET_TOKEN), await look(viewer), await look(prompter.token)];

  expect(ofOwner.parents).toEqual([
    ['child', parent],
    ['grandchild', child],
  ]);
  const path = join(home.agentDir, 'prompts', 'private.md');
  expect(ofOwner).toMatchObject({ commands: [{ name: 'private', path }], header: { parentSession: parent } });
  expect(ofViewer.parents).toEqual([
    ['child', undefined],
    ['grandchild', child],
  ]);
  expect(ofViewer.commands).toEqual([]);
  expect(ofPrompter.commands).toMatchObject([{ name: 'private' }]);
  for (const secret of [parent, path]) expect(ofPrompter.text).not.toContain(secret);
  for (const secret of [parent, 'private']) expect(ofViewer.text).not.toContain(secret);
});

const isHeader = (entry: unknown) => (entry as { type?: string } | undefined)?.type === 'session';

it('[W114] a second server in one agent folder keeps the exports of the first', async () => {
  const home = newHome();
  const first = await startTarget({ home });
  const client = await first.connect();
  await client.run('say hello');
  const { url } = await client.ok({ type: 'export_html' });

  const second = await startTarget({ home });
  const other = await second.connect();
  await other.run('say hello');
  await other.ok({ type: 'export_html' });
  await second.stop();

  expect((await first.get(url)).status).toBe(200);
});
