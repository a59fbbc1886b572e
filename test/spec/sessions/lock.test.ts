import { copyFileSync, linkSync, readdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  newHome,
  openTestAgent as openOn,
  readSessionFile,
  startAgentProcess,
} from '../../support/agent/test-agent.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'J16',
  'a process started on a session in use reports its holder and exits',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const link = join(home.root, 'link.jsonl');
    symlinkSync(path, link);
    const holder = await open({ home, args: ['--session', path] });
    await holder.peer.greeted();
    const before = readFileSync(path);

    for (const args of [
      ['--session', path],
      ['--session', link],
      ['--session', 'stored'],
      ['--continue'],
      ['--session-id', 'stored-1'],
    ]) {
      const second = startAgentProcess(home, args);

      expect(await second.process.exited).toEqual({ code: 1, signal: null });
      expect(second.process.stdout()).toBe('');
      expect(second.process.stderr()).toMatch(/^tau: Session is in use by process \d+: .+\n$/);
      expect(second.process.stderr()).toContain(`process ${holder.process?.pid}:`);
    }
    expect(readFileSync(path)).toEqual(before);
  },
  ['stdio', 'unix'],
);

verifies(
  'J16',
  'a session in use has one writer under every path of its file',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const [link, moved] = [join(home.root, 'hard.jsonl'), join(home.root, 'moved.jsonl')];
    linkSync(path, link);
    const holder = await open({ home, args: ['--session', path] });
    await holder.peer.greeted();
    renameSync(path, moved);

    for (const name of [link, moved]) {
      const second = startAgentProcess(home, ['--session', name]);

      expect(await second.process.exited).toEqual({ code: 1, signal: null });
      expect(second.process.stderr()).toContain(`Session is in use by process ${holder.process?.pid}: ${name}`);
    }
  },
  process.platform === 'linux' ? ['stdio', 'unix'] : [],
);

verifies('J16', 'two agents can work side by side in one folder', async ({ open }) => {
  const home = newHome();
  const [one, two] = [await open({ home, script: [{ text: 'one' }] }), await open({ home, script: [{ text: 'two' }] })];

  await Promise.all([one.peer.run('first'), two.peer.run('second')]);

  const files = [await one.peer.ok({ type: 'get_state' }), await two.peer.ok({ type: 'get_state' })];
  const texts = files.map(({ sessionFile }) =>
    readSessionFile(sessionFile).flatMap(({ message }) => message?.content[0].text ?? []),
  );
  expect(texts).toEqual([
    ['first', 'one'],
    ['second', 'two'],
  ]);
});

verifies('J17', 'a session is unlocked as soon as its holder is killed', async ({ open }) => {
  const home = newHome();
  const holder = await openOn('stdio', { home, script: [{ steps: [{ text: 'half ' }, { stall: true }] }] });
  await holder.peer.ok({ type: 'prompt', message: 'first' });
  await holder.peer.next('message_update');
  const { sessionFile } = await holder.peer.ok({ type: 'get_state' });
  const { peer } = await open({ home, script: [{ text: 'two' }] });
  expect(await peer.refused({ type: 'switch_session', sessionPath: sessionFile })).toMatchObject({
    code: 'session_in_use',
  });

  holder.process?.kill('SIGKILL');
  await holder.process?.exited;

  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
  await peer.run('second');
  expect(readSessionFile(sessionFile).flatMap(({ message }) => message?.role ?? [])).toEqual([
    'user',
    'user',
    'assistant',
  ]);
});

verifies('J16', 'a session is unlocked after a clean exit', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const first = await open({ home, args: ['--session', path] });
  await first.peer.greeted();
  await first.close();

  const second = await open({ home, args: ['--session', path] });

  expect(await second.peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile: path });
});

verifies(
  'J35',
  'a session opens although another user has taken every name that its last holder had',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const holder = await open({ home, args: ['--session', path] });
    await holder.peer.greeted();
    const names = abstractNames(holder.process?.pid);
    await holder.close();
    // Another inode: under any user, the names of the old one belong to a process of the same user here.
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    await Promise.all(names.map(listenOn));

    const next = await open({ home, args: ['--session', path] });

    expect(await next.peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile: path });
  },
  ['stdio'],
);

verifies(
  'J36',
  'the lock that a killed holder leaves is replaced, and removed on a clean exit',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const files = () => readdirSync(dirname(path)).sort();
    const killed = await openOn('stdio', { home, args: ['--session', path] });
    await killed.peer.greeted();
    killed.process?.kill('SIGKILL');
    await killed.process?.exited;
    expect(files()).toEqual([basename(path), `${basename(path)}.tau-lock`]);

    const next = await open({ home, args: ['--session', path] });
    await next.peer.greeted();
    await next.close();

    expect(files()).toEqual([basename(path)]);
  },
  process.platform === 'linux' ? ['stdio'] : [],
);

/** The abstract sockets of a process, whose names every user of the machine can read. */
function abstractNames(pid = 0): string[] {
  if (process.platform !== 'linux') return [];
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const sockets = readFileSync('/proc/net/unix', 'utf8').matchAll(/ (\d+) @(\S+)$/gm);
  return [...sockets].flatMap(([, inode, name = '']) => (open.includes(`socket:[${inode}]`) ? [name] : []));
}

async function listenOn(name: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(`\0${name}`, () => resolve(undefined));
  });
}
