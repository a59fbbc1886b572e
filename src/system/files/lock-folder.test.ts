import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder, until } from '../testing/script.ts';
import { LockFolder } from './lock-folder.ts';

const base = temporaryFolder();
const start = processes();
const held: LockFolder[] = [];
let files = 0;

afterEach(() => {
  for (const folder of held.splice(0)) folder.release();
});

const newFile = () => join(base, `file-${++files}`);

async function acquire(...args: Parameters<typeof LockFolder.acquire>): Promise<LockFolder> {
  const folder = await LockFolder.acquire(...args);
  held.push(folder);
  return folder;
}

/** Makes a lock folder look as if nothing had touched it for this long. */
function age(path: string, seconds: number): void {
  const then = new Date(Date.now() - seconds * 1000);
  utimesSync(path, then, then);
}

describe('a lock folder', () => {
  it('exists while it is held, and is empty', async () => {
    const file = newFile();

    const folder = await acquire(file);

    expect(readdirSync(`${file}.lock`)).toEqual([]);
    expect(folder.isHeld).toBe(true);
    folder.release();
    expect(existsSync(`${file}.lock`)).toBe(false);
    expect(folder.isHeld).toBe(false);
  });

  it('of another program is waited for until it is removed', async () => {
    const file = newFile();
    mkdirSync(`${file}.lock`);

    const waiting = acquire(file);
    rmdirSync(`${file}.lock`);

    expect((await waiting).isHeld).toBe(true);
  });

  it('that is held for too long is reported with its path', async () => {
    const file = newFile();
    mkdirSync(`${file}.lock`);

    await expect(acquire(file, { waitMs: 30 })).rejects.toThrow(`another program holds ${file}.lock`);
  });

  it('that a crash left behind is replaced', async () => {
    const file = newFile();
    mkdirSync(`${file}.lock`);
    age(`${file}.lock`, 31);

    const folder = await acquire(file, { waitMs: 0 });

    expect(folder.isHeld).toBe(true);
    expect(readdirSync(base).filter((name) => name.startsWith(`${file.slice(base.length + 1)}.lock.`))).toEqual([]);
  });

  it('that a crash left behind is replaced, empty or not', async () => {
    const file = newFile();
    mkdirSync(join(`${file}.lock`, 'inside'), { recursive: true });
    age(`${file}.lock`, 31);

    const folder = await acquire(file, { waitMs: 0 });

    expect(folder.isHeld).toBe(true);
    expect(readdirSync(`${file}.lock`)).toEqual([]);
    expect(readdirSync(base).filter((name) => name.startsWith(`${file.slice(base.length + 1)}.lock.`))).toEqual([]);
  });

  it('is kept fresh while it is held', async () => {
    const file = newFile();
    const folder = await acquire(file, { staleMs: 30 });
    const { mtimeMs } = statSync(`${file}.lock`);

    await until(() => statSync(`${file}.lock`).mtimeMs > mtimeMs);

    expect(folder.isHeld).toBe(true);
  });

  it('that another program took over is neither held nor removed', async () => {
    const file = newFile();
    const folder = await acquire(file);
    age(`${file}.lock`, 5);

    expect(folder.isHeld).toBe(false);
    folder.release();
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  it('is removed when its process exits', async () => {
    const file = newFile();
    const program = compile(
      base,
      `import { LockFolder } from './files/lock-folder.ts';
       await LockFolder.acquire(${JSON.stringify(file)});
       process.exit(3);`,
    );

    expect(await exitOf(start(process.execPath, [program]))).toBe(3);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it('is held by one of many processes at a time, also when a stale one lies there', async () => {
    const file = newFile();
    mkdirSync(`${file}.lock`);
    age(`${file}.lock`, 60);
    const program = compile(
      base,
      `import { mkdirSync, rmdirSync } from 'node:fs';
       import { LockFolder } from './files/lock-folder.ts';
       for (let turn = 0; turn < 10; turn++) {
         const folder = await LockFolder.acquire(${JSON.stringify(file)});
         mkdirSync(${JSON.stringify(`${file}.inside`)});
         await new Promise((resolve) => setImmediate(resolve));
         rmdirSync(${JSON.stringify(`${file}.inside`)});
         folder.release();
       }
       console.log('done');`,
    );

    const children = [1, 2, 3, 4].map(() => start(process.execPath, [program]));

    expect(await Promise.all(children.map(({ stdout }) => readAll(stdout)))).toEqual(Array(4).fill('done\n'));
  });
});
