import { existsSync } from 'node:fs';
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

it('watchParent does not keep the process alive', async () => {
  const script = compile(folder, `import { watchParent } from './exit-signals.ts'; watchParent(() => undefined, 5);`);

  expect(await exitOf(start(process.execPath, [script]))).toBe(0);
});
