import type { ChildProcess, SpawnOptions } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder } from '../testing/script.ts';
import { acquireContentLock, acquireLock, type Lock, LockHeld, lockHolder } from './lock.ts';
import { acquireLockFile, lockFileHolder } from './lock-file.ts';

const NOBODY = 65534;
const base = temporaryFolder();
const start = processes();
const held: Lock[] = [];

afterEach(async () => {
  await Promise.all(held.splice(0).map((lock) => lock.release()));
});

const kinds = [
  {
    kind: 'lock',
    acquire: acquireLock,
    queryHolder: lockHolder,
    source: `import { acquireLock as acquire } from './files/lock.ts';`,
  },
  {
    kind: 'lock file',
    acquire: acquireLockFile,
    queryHolder: lockFileHolder,
    source: `import { acquireLockFile as acquire } from './files/lock-file.ts';`,
  },
];

describe.each(kinds)('$kind', ({ acquire, queryHolder, source }) => {
  const newFolder = () => mkdtempSync(join(base, 'case-'));
  const take = async (path: string) => {
    const lock = await acquire(path);
    held.push(lock);
    return lock;
  };
  /** Another process that holds the lock until it is killed. */
  const holderOf = async (path: string): Promise<ChildProcess> => {
    const script = compile(
      base,
      `${source} await acquire(${JSON.stringify(path)}); console.log('held'); setInterval(() => undefined, 1000);`,
    );
    const child = start(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    return child;
  };

  it('is rejected while another process holds it, with the pid of the holder', async () => {
    const path = join(newFolder(), 'file');
    const holder = await holderOf(path);

    const refusal = await acquire(path).catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(LockHeld);
    expect(refusal).toMatchObject({ name: 'LockHeld', pid: holder.pid });
  });

  it('reports its holder without being acquired', async () => {
    const path = join(newFolder(), 'file');
    expect(await queryHolder(path)).toBeUndefined();

    const holder = await holderOf(path);
    expect(await queryHolder(path)).toEqual({ pid: holder.pid });

    holder.kill('SIGKILL');
    await exitOf(holder);
    expect(await queryHolder(path)).toBeUndefined();
    await take(path);
  });

  it('is rejected a second time in the same process', async () => {
    const path = join(newFolder(), 'file');
    await take(path);

    await expect(acquire(path)).rejects.toMatchObject({ name: 'LockHeld', pid: process.pid });
  });

  it('is free after release, which may be repeated', async () => {
    const folder = newFolder();
    const first = await take(join(folder, 'file'));

    await first.release();
    await take(join(folder, 'file'));
    await first.release();

    await expect(acquire(join(folder, 'file'))).rejects.toBeInstanceOf(LockHeld);
  });

  it('is free the moment its holder is killed', async () => {
    const path = join(newFolder(), 'file');
    for (let times = 0; times < 8; times++) {
      const holder = await holderOf(path);
      const exited = exitOf(holder);
      holder.kill('SIGKILL');
      await exited;

      const lock = await acquire(path);

      await lock.release();
    }
  });

  it('is the same through every symlink to the file, before and after it exists', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'alias'));
    symlinkSync('real/file', join(folder, 'link'));
    await take(join(folder, 'link'));

    for (const path of ['real/file', 'alias/file', 'alias/../real/./file']) {
      await expect(acquire(`${folder}/${path}`)).rejects.toBeInstanceOf(LockHeld);
    }
    writeFileSync(join(folder, 'real/file'), '');
    await expect(acquire(join(folder, 'alias/file'))).rejects.toBeInstanceOf(LockHeld);
    await take(join(folder, 'real/file-2'));
  });

  it('has one holder at a time, though many compete and some die with it', async () => {
    const folder = newFolder();
    const script = compile(
      base,
      `${source}
       import { appendFileSync } from 'node:fs';
       const log = (mark) => appendFileSync('${folder}/log', mark + process.pid + '\\n');
       for (let turns = 0; turns < 5; ) {
         const lock = await acquire('${folder}/file').catch((error) => {
           if (error.name !== 'LockHeld') throw error;
         });
         if (!lock) continue;
         log('+');
         await new Promise((resolve) => setImmediate(resolve));
         log('-');
         if (++turns === 5) process.kill(process.pid, 'SIGKILL');
         await lock.release();
       }`,
    );

    const exits = Array.from({ length: 5 }, () => exitOf(start(process.execPath, [script])));

    expect(await Promise.all(exits)).toEqual(exits.map(() => 'SIGKILL'));
    const turns = readFileSync(join(folder, 'log'), 'utf8').match(/\+(\d+)\n-\1\n/g);
    expect(turns?.length).toBe(25);
  });

  it('does not keep its holder alive, and leaves no file', async () => {
    const folder = newFolder();
    const script = compile(base, `${source} await acquire('${folder}/file'); console.log('held');`);
    const child = start(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });

    expect(await Promise.all([readAll(child.stdout), exitOf(child)])).toEqual(['held\n', 0]);
    const lock = await acquire(join(folder, 'file'));
    await lock.release();

    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a lock whose holder does not respond', () => {
  it.runIf(process.platform === 'linux')('stays held', async () => {
    const path = join(mkdtempSync(join(base, 'case-')), 'file');
    const script = compile(
      base,
      `import { acquireLock } from './files/lock.ts';
       await acquireLock('${path}');
       console.log('held');
       setInterval(() => undefined, 1000);`,
    );
    const holder = start(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout?.once('data', resolve));
    holder.kill('SIGSTOP');

    await expect(acquireLock(path)).rejects.toMatchObject({ name: 'LockHeld', pid: undefined });
  });
});

describe.runIf(process.platform === 'linux')('a lock socket', () => {
  it('is possible for a file name of any length', async () => {
    const folder = mkdtempSync(join(base, 'case-'));
    for (const length of [1, 120, 246, 247, 255]) {
      const path = join(folder, 'x'.repeat(length));
      held.push(await acquireLock(path));

      await expect(acquireLock(path)).rejects.toMatchObject({ pid: process.pid });
      expect(await lockHolder(path)).toEqual({ pid: process.pid });
    }
  });

  it('is not removed by a release after the user has removed it and another process has created one', async () => {
    const folder = mkdtempSync(join(base, 'case-'));
    const first = await acquireLock(join(folder, 'file'));
    rmSync(join(folder, 'file.tau-lock'));
    held.push(await acquireLock(join(folder, 'file')));

    await first.release();

    expect(readdirSync(folder)).toEqual(['file.tau-lock']);
  });

  it.each(['a file', 'a dangling link'])('replaces %s in its place', async (kind) => {
    const folder = mkdtempSync(join(base, 'case-'));
    if (kind === 'a file') writeFileSync(join(folder, 'file.tau-lock'), '');
    else symlinkSync('nowhere', join(folder, 'file.tau-lock'));

    const lock = await acquireLock(join(folder, 'file'));
    await lock.release();

    expect(readdirSync(folder)).toEqual([]);
  });

  it('is an abstract socket name where nothing can be created', async () => {
    const lock = await acquireLock('/proc/file');

    await expect(acquireLock('/proc/file')).rejects.toMatchObject({ name: 'LockHeld', pid: process.pid });
    expect(await lockHolder('/proc/file')).toEqual({ pid: process.pid });
    await lock.release();
    expect(await lockHolder('/proc/file')).toBeUndefined();
  });
});

describe.runIf(process.platform === 'linux')('the socket of a dead holder', () => {
  const isRoot = process.getuid?.() === 0;
  const folders = [
    { folderKind: 'read-only', mode: 0o555 },
    // Only root can leave a socket of another user.
    ...(isRoot ? [{ folderKind: 'sticky', mode: 0o1777 }] : []),
  ];

  it.each(folders)('does not block a user who cannot remove it from a $folderKind folder', async ({ mode }) => {
    chmodSync(base, 0o755);
    const folder = mkdtempSync(join(base, 'case-'));
    const path = join(folder, 'file');
    const source = `import { acquireLock } from './files/lock.ts';
      const attempt = () => acquireLock('${path}').then(() => 'acquired', ({ name, pid }) => name + (pid === process.pid));`;
    const killed = start(
      process.execPath,
      [compile(base, `${source} await attempt(); process.kill(process.pid, 'SIGKILL');`)],
      { stdio: 'inherit' },
    );
    await exitOf(killed);
    chmodSync(folder, mode);
    const script = compile(base, `${source} console.log(await attempt(), await attempt());`);
    const options: SpawnOptions = {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    };
    const next = start(process.execPath, [script], options);
    const output = await readAll(next.stdout);
    chmodSync(folder, 0o755);

    expect(output).toBe('acquired LockHeldtrue\n');
    expect(readdirSync(folder)).toEqual(['file.tau-lock']);
  });
});

describe.runIf(process.platform === 'linux')('the lock of an inode', () => {
  it('respects the processes of this user only', async () => {
    const folder = mkdtempSync(join(base, 'case-'));
    const path = join(folder, 'file');
    writeFileSync(path, '');
    const before = abstractNames();
    const lock = await acquireContentLock(path);
    const names = abstractNames().filter((name) => !before.includes(name));
    await lock.release();
    const source = `const { createServer } = require('node:net');
      for (const name of ${JSON.stringify(names)}) {
        createServer().on('error', () => undefined).listen('\\0' + name, () => console.log('taken'));
      }`;
    const isRoot = process.getuid?.() === 0;
    const options: SpawnOptions = {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(isRoot ? { uid: NOBODY } : {}),
    };
    const squatter = start(process.execPath, ['-e', source], options);
    await new Promise((resolve) => squatter.stdout?.once('data', resolve));

    const outcome = await acquireContentLock(path).catch((error: unknown) => error);

    // Only root can start a process of another user.
    if (isRoot) expect(outcome).not.toBeInstanceOf(Error);
    else expect(outcome).toMatchObject({ name: 'LockHeld', pid: squatter.pid });
  });

  it('reserves the inode of a removed file until it is released', async () => {
    const folder = mkdtempSync(join(base, 'case-'));
    const path = join(folder, 'file');
    writeFileSync(path, '');
    const lock = await acquireContentLock(path);
    held.push(lock);
    rmSync(path);

    const inodes = Array.from({ length: 200 }, (_, index) => {
      writeFileSync(join(folder, `${index}`), '');
      return statSync(join(folder, `${index}`)).ino;
    });

    expect(inodes).not.toContain(lock.ino);
  });

  it('is acquired when a holder that exits has freed the inode first', async () => {
    const path = join(mkdtempSync(join(base, 'case-')), 'file');
    writeFileSync(path, '');
    const before = await acquireContentLock(path);

    const next = acquireContentLock(path);
    await new Promise((resolve) => setImmediate(resolve));
    await before.release();

    held.push(await next);
    expect(await next).toMatchObject({ dev: before.dev, ino: before.ino });
  });

  /** Those of this process: others run tests too. */
  function abstractNames(): string[] {
    const open = readdirSync('/proc/self/fd').map((fd) => linkTarget(`/proc/self/fd/${fd}`));
    const sockets = readFileSync('/proc/net/unix', 'utf8').matchAll(/ (\d+) @(\S+)$/gm);
    return [...sockets].flatMap(([, inode, name = '']) => (open.includes(`socket:[${inode}]`) ? [name] : []));
  }

  function linkTarget(path: string): string | undefined {
    try {
      return readlinkSync(path);
    } catch {
      // The descriptor of the folder itself is closed by now.
      return undefined;
    }
  }
});

describe('a lock file', () => {
  it('of a process whose pid was reused is stale', async () => {
    const path = join(mkdtempSync(join(base, 'case-')), 'file');
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: process.pid, startedAt: 1000, nonce: 'old' }));

    held.push(await acquireLockFile(path));
  });

  it.each(['', 'half {', '1'])('with malformed content (%j) is stale', async (text) => {
    const path = join(mkdtempSync(join(base, 'case-')), 'file');
    writeFileSync(`${path}.lock`, text);

    held.push(await acquireLockFile(path));
  });

  it('is acquired although an earlier caller died while replacing it', async () => {
    const folder = mkdtempSync(join(base, 'case-'));
    const stale = (nonce: string) => JSON.stringify({ pid: process.pid, startedAt: 1000, nonce });
    writeFileSync(join(folder, 'file.lock'), stale('first'));
    writeFileSync(join(folder, 'file.lock.first'), stale('second'));

    const lock = await acquireLockFile(join(folder, 'file'));
    const files = readdirSync(folder);
    await lock.release();

    expect([files, readdirSync(folder)]).toEqual([['file.lock'], []]);
  });
});
