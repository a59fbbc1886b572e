import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import {
  assistantEntry,
  entry,
  header,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';

const ok = { code: 0, stderr: '' };

it('[Z50] tau sessions lists the sessions of this folder, --all those of every folder', async () => {
  const home = newHome();
  storeSession(home, shortConversation(home.cwd, { id: 'here-12345' }), { name: 'a.jsonl' });
  storeSession(home, shortConversation('/elsewhere', { id: 'there-6789' }), { cwd: '/elsewhere', name: 'b.jsonl' });

  const plain = await runTau(home, ['sessions']);
  const listed = await runTau(home, ['sessions', 'list']);
  const all = await runTau(home, ['sessions', 'list', '--all']);
  const json = await runTau(home, ['sessions', 'list', '--json']);

  expect(plain).toMatchObject({ ...ok, stdout: 'ID        AGE  MESSAGES  TITLE\nhere-123  now         2  first\n' });
  expect(listed).toEqual(plain);
  expect(all.stdout.split('\n').slice(1).sort()).toEqual([
    '',
    `here-123  now         2  ${'~/project'.padEnd(10)}  first`,
    'there-67  now         2  /elsewhere  first',
  ]);
  expect(JSON.parse(json.stdout)).toMatchObject({ id: 'here-12345', messageCount: 2, cwd: home.cwd });
});

it('[Z81] the columns of a table are aligned by cells', async () => {
  const home = newHome();
  for (const [name, folder] of [
    ['a', '/東京'],
    ['b', '/Lisbon'],
  ] as const) {
    storeSession(home, shortConversation(folder, { id: `${name}-session` }), { cwd: folder, name: `${name}.jsonl` });
  }

  const { stdout } = await runTau(home, ['sessions', 'list', '--all']);

  expect(stdout.split('\n').slice(1, -1).sort()).toEqual([
    'a-sessio  now         2  /東京    first',
    'b-sessio  now         2  /Lisbon  first',
  ]);
});

it('[Z50] tau sessions reports a folder without sessions', async () => {
  const home = newHome();

  const { stdout } = await runTau(home, ['sessions']);

  expect(stdout).toBe(`No sessions in ${home.cwd} (tau sessions list --all: in every folder).\n`);
  expect(await runTau(home, ['sessions', 'list', '--all'])).toMatchObject({ ...ok, stdout: 'No sessions.\n' });
});

it('[Z50] control characters of messages are not printed', async () => {
  const home = newHome();
  const controlText = '\u001b]0;title\u0007 \u001b[2J\u009b31m red\rover\tthere';
  const lines = [
    header(home.cwd),
    userEntry('aaaaaaaa', null, controlText),
    assistantEntry('bbbbbbbb', 'aaaaaaaa', controlText),
  ];
  storeSession(home, lines);

  const outputs = [await runTau(home, ['sessions']), await runTau(home, ['sessions', 'show', 'stored'])];

  for (const { stdout } of outputs) {
    expect(stdout).toContain('red over there');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  }
});

it('[Z50 J19] show prints facts and the last messages of a session, without system messages', async () => {
  const home = newHome();
  const system = { role: 'system', content: 'You are pi.', timestamp: 1 };
  const lines = [...shortConversation(home.cwd), entry('message', 'cccccccc', 'bbbbbbbb', { message: system })];
  const path = storeSession(home, lines);
  const before = readFileSync(path);

  const byId = await runTau(home, ['sessions', 'show', 'stored']);
  const byPath = await runTau(home, ['sessions', 'show', path]);

  expect(byId).toMatchObject(ok);
  for (const fact of ['stored-1', path, home.cwd, 'messages  2', 'tokens    15']) expect(byId.stdout).toContain(fact);
  expect(byId.stdout).toMatch(/\n\n› first\n {2}one\n$/);
  expect(byPath.stdout).toBe(byId.stdout);
  expect(readFileSync(path)).toEqual(before);
});

it('[Z50] rm moves sessions to the trash and restore brings them back', async () => {
  const home = newHome();
  const one = storeSession(home, shortConversation(home.cwd, { id: 'one-1' }), { name: 'one.jsonl' });
  const two = storeSession(home, shortConversation(home.cwd, { id: 'two-2' }), { name: 'two.jsonl' });
  const [trashed] = [one, two].map((path) => join(dirname(path), '.trash', 'one.jsonl'));

  const removed = await runTau(home, ['sessions', 'rm', 'one', 'nobody', two]);
  const existing = [one, two].map(existsSync);
  const trash = await runTau(home, ['sessions', 'restore']);
  const restored = await runTau(home, ['sessions', 'restore', 'one']);

  expect(removed).toMatchObject({ code: 1, stderr: "No session found matching 'nobody'\n" });
  expect(removed.stdout).toContain(`Moved to ${trashed}\n`);
  expect(existing).toEqual([false, false]);
  for (const id of ['one-1', 'two-2']) expect(trash.stdout).toContain(id);
  expect(restored).toMatchObject({ ...ok, stdout: `Restored to ${one}\n` });
  expect([one, two].map(existsSync)).toEqual([true, false]);
  expect((await runTau(home, ['sessions', 'restore', one])).stderr).toBe(`Not in the trash: ${one}\n`);
});

it('[Z50] an ambiguous id prefix is rejected', async () => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd, { id: 'same-1' }), { name: 'one.jsonl' });
  storeSession(home, shortConversation(home.cwd, { id: 'same-2' }), { name: 'two.jsonl' });

  const ambiguous = await runTau(home, ['sessions', 'rm', 'same']);

  expect(ambiguous).toMatchObject({
    code: 1,
    stdout: '',
    stderr: "2 sessions begin with 'same': give more of the id\n",
  });
  expect(await runTau(home, ['sessions', 'rm', 'same-1'])).toMatchObject(ok);
  expect(existsSync(path)).toBe(false);
});

it('[Z50] rename sets the name of a session', async () => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));

  expect(await runTau(home, ['sessions', 'rename', 'stored', 'a', 'new', 'name'])).toMatchObject({ ...ok, stdout: '' });

  expect(readSessionFile(path).at(-1)).toMatchObject({ type: 'session_info', name: 'a new name' });
  expect((await runTau(home, ['sessions'])).stdout).toContain('a new name');
});

it('[Z50] a usage error exits with 2, a failure with 1', async () => {
  const home = newHome();
  mkdirSync(join(home.cwd, 'folder'));
  writeFileSync(join(home.cwd, 'notes.jsonl'), 'notes\n');
  const codes: Record<string, number> = {
    frob: 2,
    'list more': 2,
    show: 2,
    'show a b': 2,
    export: 2,
    rm: 2,
    'rename a': 2,
    'show nobody': 1,
    'show notes.jsonl': 1,
    'show folder/': 1,
    'rm notes.jsonl': 1,
    'rename notes.jsonl x': 1,
    'restore nobody': 1,
    'export nobody': 1,
  };

  for (const [commandLine, code] of Object.entries(codes)) {
    const result = await runTau(home, ['sessions', ...commandLine.split(' ')]);

    expect({ commandLine, ...result }).toMatchObject({
      commandLine,
      code,
      stdout: '',
      stderr: expect.stringMatching(/^.+\n$/),
    });
  }
  expect(readFileSync(join(home.cwd, 'notes.jsonl'), 'utf8')).toBe('notes\n');
});
