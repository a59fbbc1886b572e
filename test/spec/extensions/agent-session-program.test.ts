import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import {
  environment,
  newHome,
  readSessionFile,
  scriptArgs,
  sessionFiles,
  writeSettings,
} from '../../support/agent/test-agent.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { toolCallStep } from '../../support/tools/host-tools.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const fixture = (name: string) => join(root, 'test/fixtures/embedding', name);

it('[V15] a program written for the pi SDK runs with the package and exits by itself', async () => {
  const home = newHome();
  writeSettings(home, { defaultProvider: 'tau', defaultModel: 'scripted' });
  userExtension(
    home,
    'gate.ts',
    `export default function (pi) {
      pi.on('tool_call', async ({ toolName }, ctx) => {
        if (toolName === 'bash' && !(await ctx.ui.confirm('Run it?', toolName))) return { block: true };
      });
    }`,
  );
  const [, script = ''] = scriptArgs(home, [
    { steps: [toolCallStep('bash', { command: 'sleep 1000 > /dev/null 2>&1 & echo $! > pid' })] },
    { steps: [toolCallStep('count_lines', { text: 'one\ntwo' })] },
    { text: 'Two lines. ' },
    { text: 'All is well.' },
  ]);

  const { stdout, stderr } = await run(process.execPath, [fixture('reviewer.mjs'), script], {
    cwd: home.cwd,
    env: environment(home),
  });

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    text: 'Two lines. All is well.',
    tools: ['bash', 'count_lines'],
    asked: ['Run it?'],
    ended: ['user', 'assistant'],
    messages: 8,
    last: 'All is well.',
    listed: 1,
  });
  expect(readSessionFile(sessionFiles(home)[0] ?? '').filter(({ type }) => type === 'message')).toHaveLength(8);
  expect(await filterAlive([Number(readFileSync(join(home.cwd, 'pid'), 'utf8'))])).toEqual([]);
});

it('[V15] a program that never disposes its session still exits', async () => {
  const home = newHome();
  const program = join(home.root, 'program.mjs');
  const entryPoint = JSON.stringify(join(root, 'dist/index.js'));
  writeFileSync(
    program,
    `import { createAgentSession } from ${entryPoint};
     const { session } = await createAgentSession({ model: 'tau/scripted' });
     await session.prompt('say hello');
     console.log(session.getLastAssistantText());`,
  );

  const { stdout } = await run(process.execPath, [program], { cwd: home.cwd, env: environment(home) });

  expect(stdout).toBe('hello\n');
});

it('[V15 X97 X103] the published types compile in strict programs, also in one that was written for pi', async () => {
  const { root: folder } = newHome();
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@types'), { recursive: true });
  symlinkSync(root, join(modules, 'tau-agent'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(modules, '@types/node'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const programs = ['reviewer.ts', 'pi-program.ts', 'pi-extension.ts', 'pi-types.ts'];
  for (const name of programs) copyFileSync(fixture(name), join(folder, name));
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];
  const more = ['--lib', 'es2023,esnext.disposable', '--types', 'node', ...programs];

  const compiled = run(join(root, 'node_modules/.bin/tsc'), [...options, ...more], { cwd: folder });

  await expect(compiled).resolves.toMatchObject({ stdout: '' });
});
