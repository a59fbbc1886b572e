import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder, until } from '../testing/script.ts';

const folder = temporaryFolder();
const start = processes();
let tests = 0;

/** A folder for the FIFOs of one test: it identifies the guardian in the process list. */
function newFolder(): string {
  const path = join(folder, `folder-${process.pid}-${++tests}`);
  mkdirSync(path);
  return path;
}

const guardians = (path: string): number[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'pid=', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('tau-guardian') && line.includes(path))
    .map((line) => Number.parseInt(line, 10));

/** Opens several pipes, sends a word through each and prints the words. */
const script = compile(
  folder,
  `import { closeSync, readSync, writeSync } from 'node:fs';
   import { openPipe } from './processes/pipe.ts';
   const through = async (word) => {
     const { read, write } = await openPipe();
     writeSync(write, word);
     const buffer = Buffer.alloc(100);
     const length = readSync(read, buffer);
     closeSync(read);
     closeSync(write);
     return buffer.toString('utf8', 0, length);
   };
   const received = [await through('a'), ...await Promise.all(['b', 'c', 'd'].map(through))];
   if (process.argv[2] === 'wait') {
     console.log('waiting');
     await new Promise((resolve) => process.stdin.once('data', resolve));
     process.stdin.destroy();
     received.push(...await Promise.all(['e', 'f', 'g'].map(through)));
   }
   if (process.argv[2] === 'forever') {
     console.log('up');
     for (;;) await Promise.all(['x', 'y', 'z'].map(through));
   }
   console.log(received.join(' '));`,
);

function run(path: string, argument = '') {
  return start(process.execPath, [script, argument], {
    env: { ...process.env, TMPDIR: path },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

const firstOutput = (child: ReturnType<typeof run>) => new Promise((resolve) => child.stdout?.once('data', resolve));

const guardianExit = (path: string) => until(() => guardians(path).length === 0);

describe('a pipe', () => {
  it('carries the written bytes, also beside other pipes, and leaves no file', async () => {
    const path = newFolder();

    const child = run(path);

    expect(await Promise.all([readAll(child.stdout), exitOf(child)])).toEqual(['a b c d\n', 0]);
    await guardianExit(path);
    expect(readdirSync(path)).toEqual([]);
  });

  it('can be opened after the guardian was killed', async () => {
    const path = newFolder();
    const child = run(path, 'wait');
    await firstOutput(child);
    for (const pid of guardians(path)) process.kill(pid, 'SIGKILL');
    await guardianExit(path);

    child.stdin?.write('go');

    expect(await readAll(child.stdout)).toBe('a b c d e f g\n');
    expect(readdirSync(path)).toEqual([]);
  });

  it.each([
    ['without a temporary folder', join(folder, 'missing')],
    ['with a relative temporary folder', '.'],
  ])('can be opened %s', async (_where, path) => {
    expect(await readAll(run(path).stdout)).toBe('a b c d\n');
  });

  it.each([1, 2, 3])('leaves no file when its process is killed, attempt %d', async () => {
    const path = newFolder();
    const child = run(path, 'forever');
    await firstOutput(child);
    await until(() => readdirSync(path).length > 0);

    child.kill('SIGKILL');

    await guardianExit(path);
    expect(readdirSync(path)).toEqual([]);
  });
});
