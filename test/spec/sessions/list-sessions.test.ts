import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { SessionSummary } from '../../../src/protocol/generated/vocabulary.ts';
import { type Home, newGate, newHome, sessionFiles } from '../../support/agent/test-agent.ts';
import {
  assistantEntry,
  assistantMessage,
  entry,
  header,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

/** Stores a conversation whose file was last modified at this second. */
function storeAt(
  home: Home,
  id: string,
  at: number,
  { cwd = home.cwd, lines = shortConversation(cwd, { id }) } = {},
): string {
  const path = storeSession(home, lines, { cwd, name: `${id}.jsonl` });
  utimesSync(path, at, at);
  return path;
}

const idsOf = ({ sessions }: { sessions: { id: string }[] }) => sessions.map(({ id }) => id);

verifies('S39 S40 S50', 'list_sessions returns all sessions with all fields, last modified first', async ({ open }) => {
  const home = newHome();
  const cwd = join(home.root, 'elsewhere');
  const old = storeAt(home, 'old', 1000);
  const fresh = storeAt(home, 'fresh', 2000, { cwd });
  const { peer } = await open({ home });

  expect(await peer.ok({ type: 'list_sessions' })).toEqual({
    sessions: [
      {
        path: fresh,
        id: 'fresh',
        firstMessage: 'first',
        messageCount: 2,
        lastModified: '1970-01-01T00:33:20.000Z',
        cwd,
        title: 'first',
        cost: 0,
        tokens: 15,
      },
      expect.objectContaining({ path: old, id: 'old', cwd: home.cwd }),
    ],
  });
});

verifies('S39', 'list_sessions with cwd returns the sessions of that folder under any path', async ({ open }) => {
  const home = newHome();
  const link = join(home.root, 'link');
  symlinkSync(home.cwd, link);
  storeAt(home, 'here', 1000);
  storeAt(home, 'linked', 2000, { cwd: link });
  storeAt(home, 'there', 3000, { cwd: join(home.root, 'other') });
  const { peer } = await open({ home });

  for (const cwd of [home.cwd, link, '.', '../link/.']) {
    expect(idsOf(await peer.ok({ type: 'list_sessions', cwd }))).toEqual(['linked', 'here']);
  }
  expect(idsOf(await peer.ok({ type: 'list_sessions', cwd: '/nowhere' }))).toEqual([]);
});

verifies(
  'S39',
  'list_sessions includes the sessions of --session-dir beside the default ones',
  async ({ open }) => {
    const home = newHome();
    storeAt(home, 'usual', 1000);
    const { peer } = await open({ home, args: ['--session-dir', '../mine'], script: [{ text: 'one' }] });
    await peer.run('said in a folder of my own');

    const { sessions } = await peer.ok({ type: 'list_sessions' });

    expect(sessions).toMatchObject([{ firstMessage: 'said in a folder of my own' }, { id: 'usual' }]);
    expect(dirname(sessions[0].path)).toBe(join(home.root, 'mine'));
  },
  LOCAL_TRANSPORTS,
);

verifies('S25 S52', 'a session title is its name, else the first line of its first message', async ({ open }) => {
  const home = newHome();
  const named = entry('session_info', 'cccccccc', 'bbbbbbbb', { name: 'My work' });
  storeAt(home, 'named', 2000, { lines: [...shortConversation(home.cwd, { id: 'named' }), named] });
  const long = `${'long '.repeat(200)}\nsecond line`;
  storeAt(home, 'long', 1000, { lines: [header(home.cwd, { id: 'long' }), userEntry('aaaaaaaa', null, long)] });
  const { peer } = await open({ home });

  const [first, second] = (await peer.ok({ type: 'list_sessions' })).sessions;

  expect(first).toMatchObject({ name: 'My work', title: 'My work', firstMessage: 'first' });
  expect(second).not.toHaveProperty('name');
  expect(second.title).toBe(`${'long '.repeat(16).slice(0, 79)}…`);
  expect(second.firstMessage).toBe(`${long.slice(0, 499)}…`);
  await peer.ok({ type: 'set_session_name', name: 'unsaid' });
  expect((await peer.ok({ type: 'list_sessions' })).sessions).toHaveLength(2);
});

verifies('S52', 'the title leaves attached files and images out', async ({ open }) => {
  const home = newHome();
  const file = '<file name="att.txt">\nits text\n</file>';
  const prompts = [
    `${file}\n\nsay Gamma`,
    `<image name="a.png"/>\n\n${file}\nsay Gamma`,
    'say Gamma\n\natt.txt\nits text',
  ];
  for (const [at, text] of prompts.entries()) {
    const id = `with-file-${at}`;
    storeAt(home, id, at, { lines: [header(home.cwd, { id }), userEntry('aaaaaaaa', null, text)] });
  }
  const { peer } = await open({ home });

  const { sessions } = await peer.ok({ type: 'list_sessions' });

  expect(sessions.map(({ title }: SessionSummary) => title)).toEqual(Array(3).fill('say Gamma'));
});

verifies('S52', 'the title of a session without messages is its first bash command', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'bash', command: ' echo one\necho two' });
  await peer.ok({ type: 'bash', command: 'echo three' });
  const [silent] = (await peer.ok({ type: 'list_sessions' })).sessions;
  await peer.run('Hello');

  const [spoken] = (await peer.ok({ type: 'list_sessions' })).sessions;

  expect(silent).toMatchObject({ title: '!echo one', firstMessage: '', messageCount: 2 });
  expect(spoken).toMatchObject({ title: 'Hello', firstMessage: 'Hello' });
});

verifies('S65', 'list_sessions names the parent session of a copy', async ({ open }) => {
  const home = newHome();
  const lines = [...shortConversation(home.cwd, { id: 'origin' }), userEntry('cccccccc', 'bbbbbbbb', 'second')];
  const origin = storeAt(home, 'origin', 1000, { lines });
  const { peer } = await open({ home, args: ['--session', origin], script: [{ text: 'three' }] });
  const sources = [
    { type: 'clone', detached: true },
    { type: 'fork', entryId: 'cccccccc', detached: true },
    { type: 'new_session', parentSession: origin },
  ];
  const copies: string[] = [];
  for (const command of sources) copies.push((await peer.ok(command)).sessionId);
  await peer.run('third');

  const { sessions } = await peer.ok({ type: 'list_sessions' });

  const parents = Object.fromEntries(sessions.map(({ id, parentSession }: SessionSummary) => [id, parentSession]));
  expect(parents).toEqual({ ...Object.fromEntries(copies.map((id) => [id, origin])), origin: undefined });
});

verifies('V50', 'the title of a copy is its own name, or the first message that was added to it', async ({ open }) => {
  const home = newHome();
  const named = entry('session_info', 'cccccccc', 'bbbbbbbb', { name: 'Given name' });
  const origin = storeAt(home, 'origin', 1000, { lines: [...shortConversation(home.cwd, { id: 'origin' }), named] });
  const { peer } = await open({ home, args: ['--session', origin] });
  const titleOf = async (id: string) =>
    (await peer.ok({ type: 'list_sessions' })).sessions.find((one: SessionSummary) => one.id === id)?.title;

  const { sessionId } = await peer.ok({ type: 'clone' });
  const titles = [await titleOf(sessionId)];
  await peer.run('Added to the copy\nin two lines');
  titles.push(await titleOf(sessionId));
  await peer.ok({ type: 'set_session_name', name: 'Own name' });
  titles.push(await titleOf(sessionId), await titleOf('origin'));

  expect(titles).toEqual(['Given name', 'Added to the copy', 'Own name', 'Given name']);
});

verifies('J7', 'a session without messages is not listed', async ({ open }) => {
  const home = newHome();
  storeAt(home, 'silent', 1000, { lines: [header(home.cwd, { id: 'silent' })] });
  const system = entry('message', 'aaaaaaaa', null, { message: { role: 'system', content: 'rules', timestamp: 1 } });
  storeAt(home, 'ruled', 2000, { lines: [header(home.cwd, { id: 'ruled' }), system] });
  const { peer } = await open({ home, script: [{ text: 'one' }] });

  expect(await peer.ok({ type: 'list_sessions' })).toEqual({ sessions: [] });

  await peer.run('something');
  expect(await peer.ok({ type: 'list_sessions' })).toMatchObject({ sessions: [{ firstMessage: 'something' }] });
});

verifies('S51', 'files that are not sessions are skipped, and nothing is written or locked', async ({ open }) => {
  const home = newHome();
  const good = storeAt(home, 'good', 1000);
  const folder = dirname(good);
  const torn = storeAt(home, 'torn', 900, { lines: shortConversation(home.cwd, { id: 'torn' }) });
  writeFileSync(torn, `${readFileSync(torn, 'utf8')}{"type":"message","id":"half`);
  writeFileSync(join(folder, 'empty.jsonl'), '');
  writeFileSync(join(folder, 'foreign.jsonl'), '{"hello":"world"}\nnot json\n');
  writeFileSync(join(folder, 'notes.txt'), 'not a session');
  mkdirSync(join(folder, 'folder.jsonl'));
  symlinkSync('loop.jsonl', join(folder, 'loop.jsonl'));
  writeFileSync(join(home.agentDir, 'sessions', 'stray.txt'), '');
  symlinkSync('loop', join(home.agentDir, 'sessions', 'loop'));
  const holder = await open({ home, args: ['--session', good] });
  await holder.peer.greeted();
  const { peer } = await open({ home });
  await peer.greeted();
  const facts = () => readdirSync(folder).map((name) => [name, stampOf(join(folder, name))]);
  const before = facts();

  expect(idsOf(await peer.ok({ type: 'list_sessions' })).sort()).toEqual(['good', 'torn']);

  expect(facts()).toEqual(before);
  await peer.ok({ type: 'switch_session', sessionPath: torn });
});

function stampOf(path: string) {
  const { size, mtimeNs, mode } = lstatSync(path, { bigint: true });
  return [size, mtimeNs, mode];
}

verifies('S50', 'pages neither repeat nor miss a session while new ones appear', async ({ open }) => {
  const home = newHome();
  const ids = ['a', 'b', 'c', 'd', 'e'];
  for (const [index, id] of ids.entries()) storeAt(home, id, 1000 - index);
  storeAt(home, 'same-time', 998);
  const { peer } = await open({ home });

  const first = await peer.ok({ type: 'list_sessions', limit: 2 });
  storeAt(home, 'newcomer', 2000);
  const second = await peer.ok({ type: 'list_sessions', limit: 2, cursor: first.nextCursor });
  const third = await peer.ok({ type: 'list_sessions', limit: 2, cursor: second.nextCursor });

  expect([first, second, third].map(idsOf)).toEqual([
    ['a', 'b'],
    ['c', 'same-time'],
    ['d', 'e'],
  ]);
  expect(third).not.toHaveProperty('nextCursor');
  for (const cursor of ['nonsense', '', 'WzFd', 'bnVsbA']) {
    expect(await peer.refused({ type: 'list_sessions', cursor })).toMatchObject({ code: 'not_found' });
  }
  for (const limit of [0, -1]) {
    expect(await peer.refused({ type: 'list_sessions', limit })).toMatchObject({ code: 'invalid_params' });
  }
});

verifies('S52', 'cost and tokens equal those of get_session_stats, also after the file has grown', async ({ open }) => {
  const home = newHome();
  const cost = { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 };
  const used = { input: 100, output: 20, cacheRead: 3, cacheWrite: 4, totalTokens: 127, cost };
  const call = { type: 'toolCall', id: 'c1', name: 'x', arguments: { usage: { input: 9, cost: { total: 9 } } } };
  const path = storeAt(home, 'spent', 1000, {
    lines: [
      header(home.cwd, { id: 'spent' }),
      userEntry('aaaaaaaa', null, 'first'),
      assistantEntry('bbbbbbbb', 'aaaaaaaa', `"usage":{"input":7} ${'x'.repeat(2000)}`, { usage: used }),
      entry('message', 'cccccccc', 'bbbbbbbb', { message: assistantMessage({ content: [call], usage: used }) }),
      entry('compaction', 'dddddddd', 'cccccccc', {
        summary: 's',
        firstKeptEntryId: 'cccccccc',
        tokensBefore: 1,
        usage: used,
      }),
    ],
  });
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'two' }] });
  const check = async () => {
    const stats = await peer.ok({ type: 'get_session_stats' });
    const [listed] = (await peer.ok({ type: 'list_sessions' })).sessions;
    expect(listed).toMatchObject({ cost: stats.cost, tokens: stats.tokens.total, messageCount: stats.totalMessages });
  };

  await check();
  await peer.run('more');
  await check();
});

verifies('S52', 'only the session of this agent has a status', async ({ open }) => {
  const home = newHome();
  storeAt(home, 'other', 1000);
  const gate = newGate();
  const { peer } = await open({ home, script: [{ steps: [{ text: 'a ' }, { await: gate.path }] }] });
  await peer.ok({ type: 'prompt', message: 'wait' });
  await peer.next('message_update');

  const running = await peer.ok({ type: 'list_sessions' });
  gate.open();
  await peer.next('agent_settled');
  const idle = await peer.ok({ type: 'list_sessions' });

  const statuses = ({ sessions }: { sessions: { status?: string }[] }) => sessions.map(({ status }) => status);
  expect([statuses(running), statuses(idle)]).toEqual([
    ['running', undefined],
    ['idle', undefined],
  ]);
  expect(sessionFiles(home)).toHaveLength(2);
});
