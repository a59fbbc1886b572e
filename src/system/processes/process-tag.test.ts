import { expect, it } from 'vitest';
import { compile, processes, readAll, temporaryFolder } from '../testing/script.ts';

const folder = temporaryFolder();
const start = processes();

const starter = (program: string) => `
  import { spawnPiped } from './processes/process-group.ts';
  const { pipes } = spawnPiped({ ...${program}, cwd: '/', env: process.env, family: 'test' });
  pipes.stdout.pipe(process.stdout);`;

const reporter = () =>
  compile(folder, `import { isGuardedByParent } from './processes/process-tag.ts'; console.log(isGuardedByParent());`);

const outputOf = (script: string) => readAll(start(process.execPath, [script]).stdout);

it('a process that another one started as its group is guarded by its parent', async () => {
  const program = `{ command: process.execPath, args: [${JSON.stringify(reporter())}] }`;

  expect(await outputOf(compile(folder, starter(program)))).toBe('true\n');
});

it('a process below a shell of such a group is not guarded by its parent, the shell', async () => {
  const program = `{ command: 'sh', args: ['-c', '"$0" "$1"; true', process.execPath, ${JSON.stringify(reporter())}] }`;

  expect(await outputOf(compile(folder, starter(program)))).toBe('false\n');
});

it('a process without a tag is not guarded by its parent', async () => {
  expect(await outputOf(reporter())).toBe('false\n');
});
