import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { newHome, readSessionFile, startAgentProcess } from '../../support/agent/test-agent.ts';
import { header, shortConversation, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

/** Sets the modification time of a file. */
const setModifiedTime = (path: string, seconds: number) => utimesSync(path, seconds, seconds);

verifies('Z10', '--session opens that file and continues it', async ({ open }) => {
  const home = newHome();
  const path = join(home.root, 'my.jsonl');
  writeFileSync(
    path,
    shortConversation(home.cwd)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  const { peer, sessionFiles } = await open({ home, args: ['--session', '../my.jsonl'], script: [{ text: 'two' }] });

  await peer.run('second');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({
    sessionId: 'stored-1',
    sessionFile: path,
    messageCount: 4,
  });
  expect(readSessionFile(path)).toHaveLength(5);
  expect(sessionFiles()).toEqual([]);
});

verifies('Z10', 'a session of another folder opens in its own folder', async ({ open }) => {
  const home = newHome();
  const cwd = join(home.root, 'other');
  mkdirSync(cwd);

  const { peer } = await open({ home, args: ['--session', storeSession(home, shortConversation(cwd), { cwd })] });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ cwd });
});

verifies(
  'Z11 J5',
  '--session creates a missing file, which is kept once it has a message',
  async ({ open }) => {
    const home = newHome();
    const [spoken, silent] = [join(home.root, 'spoken.jsonl'), join(home.root, 'silent.jsonl')];
    const first = await open({ home, args: ['--session', spoken], script: [{ text: 'one' }] });
    const second = await open({ home, args: ['--session', silent] });
    const { sessionId } = await first.peer.ok({ type: 'get_state' });
    await second.peer.ok({ type: 'get_state' });
    const made = [existsSync(spoken), existsSync(silent)];

    await first.peer.run('first');
    await first.close();
    await second.close();

    expect(made).toEqual([true, true]);
    expect([existsSync(spoken), existsSync(silent)]).toEqual([true, false]);
    expect(readSessionFile(spoken)[0]).toMatchObject({ type: 'session', version: 3, id: sessionId, cwd: home.cwd });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z11',
  '--session creates no folder',
  async () => {
    const home = newHome();

    const { process } = startAgentProcess(home, ['--session', join(home.root, 'no/such/a.jsonl')]);

    expect(await process.exited).toEqual({ code: 1, signal: null });
    expect(process.stderr()).toMatch(/^tau: Session not found: .+\n$/);
    expect(process.stdout()).toBe('');
    expect(existsSync(join(home.root, 'no'))).toBe(false);
  },
  ['stdio'],
);

verifies(
  'Z12',
  '--session with a file that is not a session exits and leaves the file unchanged',
  async () => {
    const home = newHome();
    for (const [name, content] of Object.entries({
      'a.jsonl': 'Dear diary\n',
      'b.jsonl': '{"type":"message"}\n',
      'c.jsonl': '\n',
    })) {
      const path = join(home.root, name);
      writeFileSync(path, content);

      const { process } = startAgentProcess(home, ['--session', path]);

      expect(await process.exited).toEqual({ code: 1, signal: null });
      expect(process.stderr()).toBe(`tau: Not a session file: ${path}\n`);
      expect(process.stdout()).toBe('');
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
  },
  ['stdio'],
);

verifies(
  'Z13',
  '--session finds a session by the beginning of its id, in this folder first',
  async ({ open }) => {
    const home = newHome();
    const cwd = join(home.root, 'other');
    mkdirSync(cwd);
    const own = storeSession(home, shortConversation(home.cwd, { id: 'abc-own' }), { name: 'own.jsonl' });
    const exact = storeSession(home, shortConversation(home.cwd, { id: 'abc' }), { name: 'exact.jsonl' });
    const foreign = storeSession(home, shortConversation(cwd, { id: 'abc-other' }), { name: 'other.jsonl', cwd });
    setModifiedTime(foreign, 2_000_000_000);

    const files = [];
    for (const id of ['abc-', 'abc', 'abc-oth']) {
      const agent = await open({ home, args: ['--session', id] });
      files.push((await agent.peer.ok({ type: 'get_state' })).sessionFile);
      await agent.close();
    }

    expect(files).toEqual([own, exact, foreign]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z13',
  '--session with an unknown id exits with an error',
  async () => {
    const home = newHome();
    storeSession(home, shortConversation(home.cwd));

    const { process } = startAgentProcess(home, ['--session', 'tored-1']);

    expect(await process.exited).toEqual({ code: 1, signal: null });
    expect(process.stderr()).toContain("'tored-1'");
    expect(process.stdout()).toBe('');
  },
  ['stdio'],
);

verifies(
  'Z14',
  '--session-id opens the session with that id under any file name',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd, { id: 'ticket-42' }), { name: 'renamed.jsonl' });
    storeSession(home, shortConversation(home.cwd, { id: 'ticket-420' }), { name: 'longer_ticket-42.jsonl' });

    const { peer } = await open({ home, args: ['--session-id', 'ticket-42'] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: 'ticket-42', sessionFile: path });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z14',
  'a session id that could lead out of the folder is rejected',
  async () => {
    for (const id of ['../x', 'a/b', 'a.b', '.', 'ü', 'a b', '-', 'x'.repeat(200)]) {
      const { process } = startAgentProcess(newHome(), [`--session-id=${id}`]);

      expect(await process.exited).toMatchObject({ code: expect.toSatisfy((code) => code === 1 || code === 2) });
      expect(process.stdout()).toBe('');
    }
  },
  ['stdio'],
);

verifies(
  'Z15 J6',
  '--continue opens the session last used in this folder',
  async ({ open }) => {
    const home = newHome();
    const other = join(home.root, 'other');
    mkdirSync(other);
    const old = storeSession(home, shortConversation(home.cwd, { id: 'old' }), { name: 'z-old.jsonl' });
    const latest = storeSession(home, shortConversation(home.cwd, { id: 'latest' }), { name: 'a-latest.jsonl' });
    const empty = storeSession(home, [header(home.cwd, { id: 'empty' })], { name: 'empty.jsonl' });
    const elsewhere = storeSession(home, shortConversation(other, { id: 'elsewhere' }), { cwd: other });
    setModifiedTime(old, 1_000_000_000);
    setModifiedTime(latest, 1_100_000_000);
    setModifiedTime(empty, 1_200_000_000);
    setModifiedTime(elsewhere, 1_300_000_000);

    const { peer } = await open({ home, args: ['--continue'], script: [{ text: 'two' }] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({
      sessionId: 'latest',
      sessionFile: latest,
      messageCount: 2,
    });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z15 Z9',
  '--continue ignores sessions of other folders in a shared session directory',
  async ({ open }) => {
    const home = newHome();
    const other = join(home.root, 'other');
    const directory = join(home.root, 'kept');
    mkdirSync(directory);
    const file = (name: string, lines: readonly object[]) => {
      const path = join(directory, name);
      writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      return path;
    };
    const own = file('own.jsonl', shortConversation(home.cwd, { id: 'own' }));
    setModifiedTime(own, 1_000_000_000);
    setModifiedTime(file('other.jsonl', shortConversation(other, { id: 'other' })), 1_100_000_000);

    const { peer } = await open({ home, args: ['-c', '--session-dir', directory] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: 'own', cwd: home.cwd });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z15',
  '--continue skips unreadable sessions',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const broken = storeSession(home, ['no session', userEntry('aaaaaaaa', null, 'x')], { name: 'broken.jsonl' });
    mkdirSync(join(dirname(path), 'folder.jsonl'));
    setModifiedTime(path, 1_000_000_000);
    setModifiedTime(broken, 1_100_000_000);

    const { peer } = await open({ home, args: ['--continue'] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile: path });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z8 Z14',
  '--no-session accepts --session-id',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session', '--session-id', 'ghost'] });

    const state = await peer.ok({ type: 'get_state' });

    expect(state).toMatchObject({ sessionId: 'ghost' });
    expect(state).not.toHaveProperty('sessionFile');
  },
  LOCAL_TRANSPORTS,
);
