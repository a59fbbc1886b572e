import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder, until } from './testing/script.ts';

const folder = temporaryFolder();
const start = processes();

it('watchParent calls back once when the parent is killed', async () => {
  const noticed = join(folder, 'noticed');
  const script = compile(
    folder,
    `import { watchParent } from './exit-signals.ts';
     import { appendFileSync } from 'node:fs';
     let calls = 0;
     watchParent(() => {
       calls++;
       setTimeout(() => {
         appendFileSync('${noticed}', String(calls));
         process.exit();
       }, 50);
     }, 5);
     setInterval(() => undefined, 1000);
     console.log('watching');`,
  );
  const parent = start('bash', ['-c', '"$0" "$1" & wait', process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => parent.stdout?.once('data', resolve));
  expect(existsSync(noticed)).toBe(false);

  parent.kill('SIGKILL');
  await until(() => existsSync(noticed));

  expect(await readAll(start('cat', [noticed]).stdout)).toBe('1');
});

it('all children of a killed parent are notified, also after the one that checks it has ended', async () => {
  const noticed = (child: number) => join(folder, `all-${child}`);
  const script = compile(
    folder,
    `import { watchParent } from './exit-signals.ts';
     import { writeFileSync } from 'node:fs';
     watchParent(() => process.exit(writeFileSync(process.argv[2], '')), 5);
     setInterval(() => undefined, 1000);
     console.log(process.pid);`,
  );
  const shell = 'while read -r file; do "$0" "$1" "$file" & done; wait';
  const parent = start('bash', ['-c', shell, process.execPath, script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const pids: number[] = [];
  parent.stdout?.on('data', (chunk: Buffer) => pids.push(...String(chunk).trim().split('\n').map(Number)));
  for (const child of [0, 1, 2]) {
    parent.stdin?.write(`${noticed(child)}\n`);
    await until(() => pids.length === child + 1);
  }

  process.kill(pids[0] ?? 0, 'SIGKILL');
  parent.kill('SIGKILL');

  await until(() => existsSync(noticed(1)) && existsSync(noticed(2)));
});

it('[U31] one child checks the parent, and the others are connected to it', async () => {
  const script = compile(
    folder,
    `import { watchParent } from './exit-signals.ts'; watchParent(() => undefined); setInterval(() => undefined, 1000);`,
  );
  for (let child = 0; child < 3; child++) start(process.execPath, [script], { stdio: 'ignore' });

  const flagsOfListener = '00010000';
  const ends = () =>
    readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .filter((line) => line.includes('@tau-parent-') && line.includes(`-${process.pid}-`))
      .map((line) => line.split(' ')[3]);
  await until(() => ends().length === 3);

  expect(ends().filter((flags) => flags === flagsOfListener)).toHaveLength(1);
});

it('watchParent does not keep the process alive', async () => {
  const script = compile(folder, `import { watchParent } from './exit-signals.ts'; watchParent(() => undefined, 5);`);

  expect(await exitOf(start(process.execPath, [script]))).toBe(0);
});
