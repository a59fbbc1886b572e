import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile, exitOf, processes, temporaryFolder, textOf, until } from './testing/script.ts';

const folder = temporaryFolder();
const start = processes();
let tests = 0;

/** A place for FIFOs that only one test has: its trace in the process list. */
function newPlace(): string {
  const place = join(folder, `place-${process.pid}-${++tests}`);
  mkdirSync(place);
  return place;
}

const guardians = (place: string): number[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'pid=', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('tau-guardian') && line.includes(place))
    .map((line) => Number.parseInt(line, 10));

/** Opens so many pipes, sends a word through each, and tells the words. */
const script = compile(
  folder,
  `import { closeSync, readSync, writeSync } from 'node:fs';
   import { openPipe } from './pipe.ts';
   const through = async (word) => {
     const { read, write } = await openPipe();
     writeSync(write, word);
     const buffer = Buffer.alloc(100);
     const length = readSync(read, buffer);
     closeSync(read);
     closeSync(write);
     return buffer.toString('utf8', 0, length);
   };
   const told = [await through('a'), ...await Promise.all(['b', 'c', 'd'].map(through))];
   if (process.argv[2] === 'wait') {
     console.log('waiting');
     await new Promise((resolve) => process.stdin.once('data', resolve));
     process.stdin.destroy();
     told.push(...await Promise.all(['e', 'f', 'g'].map(through)));
   }
   if (process.argv[2] === 'forever') {
     console.log('up');
     for (;;) await Promise.all(['x', 'y', 'z'].map(through));
   }
   console.log(told.join(' '));`,
);

function run(place: string, argument = '') {
  return start(process.execPath, [script, argument], {
    env: { ...process.env, TMPDIR: place },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

const heard = (child: ReturnType<typeof run>) => new Promise((resolve) => child.stdout?.once('data', resolve));

const gone = (place: string) => until(() => guardians(place).length === 0);

describe('a pipe', () => {
  it('carries what is written, whoever else opens one, and leaves nothing behind', async () => {
    const place = newPlace();

    const child = run(place);

    expect(await Promise.all([textOf(child.stdout), exitOf(child)])).toEqual(['a b c d\n', 0]);
    await gone(place);
    expect(readdirSync(place)).toEqual([]);
  });

  it('can be made though the guardian was killed', async () => {
    const place = newPlace();
    const child = run(place, 'wait');
    await heard(child);
    for (const pid of guardians(place)) process.kill(pid, 'SIGKILL');
    await gone(place);

    child.stdin?.write('go');

    expect(await textOf(child.stdout)).toBe('a b c d e f g\n');
    expect(readdirSync(place)).toEqual([]);
  });

  it.each([
    ['without a temporary folder', join(folder, 'missing')],
    ['in a folder that is not named from the root', '.'],
  ])('can be made %s', async (_where, place) => {
    expect(await textOf(run(place).stdout)).toBe('a b c d\n');
  });

  it.each([1, 2, 3])('leaves nothing behind when its maker is killed, attempt %d', async () => {
    const place = newPlace();
    const child = run(place, 'forever');
    await heard(child);
    await until(() => readdirSync(place).length > 0);

    child.kill('SIGKILL');

    await gone(place);
    expect(readdirSync(place)).toEqual([]);
  });
});
