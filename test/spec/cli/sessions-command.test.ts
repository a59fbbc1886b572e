import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { runTau } from '../../support/processes/program.ts';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { shortConversation, header, storeSession, assistantEntry, userEntry } from '../../support/sessions/stored-session.ts';

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

it('[Z50] a folder without sessions says so', async () => {
  const home = newHome();

  const { stdout } = await runTau(home, ['sessions']);

  expect(stdout).toBe(`No sessions in ${home.cwd} (tau sessions list --all: in every folder).\n`);
  expect(await runTau(home, ['sessions', 'list', '--all'])).toMatchObject({ ...ok, stdout: 'No sessions.\n' });
});

it('[Z50] what was said cannot play tricks on the terminal', async () => {
  const home = newHome();
  const nasty = '\u001b]0;title\u0007 \u001b[2J\u009b31m red\rover\tthere';
  const lines = [header(home.cwd), userEntry('aaaaaaaa', null, nasty), assistantEntry('bbbbbbbb', 'aaaaaaaa', nasty)];
  storeSession(home, lines);

  const shown = [await runTau(home, ['sessions']), await runTau(home, ['sessions', 'show', 'stored'])];

  for (const { stdout } of shown) {
    expect(stdout).toContain('red over there');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  }
});

it('[Z50] show tells the facts of a session and how it ended', async () => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
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
  const gone = [one, two].map(existsSync);
  const trash = await runTau(home, ['sessions', 'restore']);
  const restored = await runTau(home, ['sessions', 'restore', 'one']);

  expect(removed).toMatchObject({ code: 1, stderr: "No session found matching 'nobody'\n" });
  expect(removed.stdout).toContain(`Moved to ${trashed}\n`);
  expect(gone).toEqual([false, false]);
  for (const id of ['one-1', 'two-2']) expect(trash.stdout).toContain(id);
  expect(restored).toMatchObject({ ...ok, stdout: `Restored to ${one}\n` });
  expect([one, two].map(existsSync)).toEqual([true, false]);
  expect((await runTau(home, ['sessions', 'restore', one])).stderr).toBe(`Not in the trash: ${one}\n`);
});

it('[Z50] a session is never guessed', async () => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd, { id: 'same-1' }), { name: 'one.jsonl' });
  storeSession(home, shortConversation(home.cwd, { id: 'same-2' }), { name: 'two.jsonl' });

  const unclear = await runTau(home, ['sessions', 'rm', 'same']);

  expect(unclear).toMatchObject({ code: 1, stdout: '', stderr: "2 sessions begin with 'same': say more of the id\n" });
  expect(await runTau(home, ['sessions', 'rm', 'same-1'])).toMatchObject(ok);
  expect(existsSync(path)).toBe(false);
});

it('[Z50] rename gives a session a name', async () => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));

  expect(await runTau(home, ['sessions', 'rename', 'stored', 'a', 'new', 'name'])).toMatchObject({ ...ok, stdout: '' });

  expect(readSessionFile(path).at(-1)).toMatchObject({ type: 'session_info', name: 'a new name' });
  expect((await runTau(home, ['sessions'])).stdout).toContain('a new name');
});

it('[Z50] wrong use ends with 2, what cannot be done with 1', async () => {
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

  for (const [words, code] of Object.entries(codes)) {
    const ended = await runTau(home, ['sessions', ...words.split(' ')]);

    expect({ words, ...ended }).toMatchObject({ words, code, stdout: '', stderr: expect.stringMatching(/^.+\n$/) });
  }
  expect(readFileSync(join(home.cwd, 'notes.jsonl'), 'utf8')).toBe('notes\n');
});
