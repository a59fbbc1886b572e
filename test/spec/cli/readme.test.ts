import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { environment, type Home, newHome, openTestAgent, scriptArgs } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';

const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The code of the first block in this language under this heading. */
function example(heading: string, language: string): string {
  const section = readme.slice(readme.indexOf(`## ${heading}`));
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? '';
}

it('the README starts with a working command and has at most 150 lines', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

  expect(readme.split('```')[1]).toMatch(/^\nnpm ci && npm start {5}# a server on this machine: open the link/);
  expect(scripts.start).toBe('node scripts/build.mjs && exec node dist/tau.cjs serve');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

const run = (program: string, args: readonly string[]) =>
  execFileSync(program, args, { cwd: root, env: environment(newHome()), encoding: 'utf8' });

it('the shell example prints a whole run', () => {
  const printf = /^printf .*$/m.exec(example('Drive it from a shell', 'sh'))?.[0] ?? '';

  const records = run('bash', ['-c', printf.replace('tau --mode', 'node dist/tau.cjs --mode')])
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

  expect(records[0]).toMatchObject({ type: 'ready' });
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

it('the Python example prints the response', () => {
  expect(run('python3', ['-c', example('Drive it from Python', 'python')])).toContain('thank you');
});

/** A project that depends on the built clone, as after `npm install <path to it>`. */
function newProject(): Home {
  const home = newHome();
  writeFileSync(join(home.cwd, 'package.json'), '{ "name": "project" }');
  mkdirSync(join(home.cwd, 'node_modules'));
  symlinkSync(root, join(home.cwd, 'node_modules/tau-agent'));
  return home;
}

it('[Z83] the TypeScript example runs as printed in a project of its own', async () => {
  const home = newProject();
  writeFileSync(join(home.cwd, 'drive.mjs'), example('Drive it from TypeScript', 'ts'));

  const { code, stdout, stderr } = await startProgram(home, [process.execPath, 'drive.mjs'], { input: '' }).finished;

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^read \{.*\}\nok 4\n$/s);
});

it('[Z83] the embedding example runs as printed, and blocks the forbidden tool', async () => {
  const home = newProject();
  const [, , code = ''] = readme.split('```ts\n');
  writeFileSync(join(home.cwd, 'embed.mjs'), code.split('```')[0] ?? '');

  const result = await startProgram(home, [process.execPath, 'embed.mjs'], { input: '' }).finished;

  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(join(home.cwd, 'notes.txt'))).toBe(false);
});

const codeOf = (page: string, language: string) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  );

it('[Z83] the first examples of the README and of docs/extensions.md compile against the installed package', async () => {
  const home = newProject();
  const [extension = ''] = codeOf('docs/extensions.md', 'ts');
  const files = { 'extension.mts': extension, 'drive.mts': '', 'embed.mts': '' };
  [files['drive.mts'] = '', files['embed.mts'] = ''] = codeOf('README.md', 'ts');
  for (const [name, code] of Object.entries(files)) writeFileSync(join(home.cwd, name), code);
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];

  const compiler = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await startProgram(home, [compiler, ...flags, ...types, ...Object.keys(files)]).finished;

  expect(stdout).toBe('');
});

it('[Z83] the extension of docs/extensions.md blocks a deletion', async () => {
  const home = newProject();
  const [extension = ''] = codeOf('docs/extensions.md', 'ts');
  writeFileSync(join(home.cwd, 'gate.ts'), extension);
  writeFileSync(join(home.cwd, 'kept.txt'), '');
  const script = scriptArgs(home, [
    { toolCall: { name: 'bash', arguments: { command: 'rm kept.txt' } } },
    { text: 'Done.' },
  ]);

  const result = await runTau(home, ['-p', 'go', '-e', './gate.ts', ...script], { input: '' });

  expect(result).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' });
  expect(existsSync(join(home.cwd, 'kept.txt'))).toBe(true);
});

it('[Z83] tau accepts the servers of docs/mcp.md', async () => {
  const home = newHome();
  const [config = ''] = codeOf('docs/mcp.md', 'json');
  mkdirSync(home.agentDir, { recursive: true });
  writeFileSync(
    join(home.agentDir, 'mcp.json'),
    config.replaceAll('"args"', '"disabled": true, "args"').replace('"url"', '"disabled": true, "url"'),
  );

  const { peer } = await openTestAgent('memory', { home });
  await peer.ok({ type: 'get_commands' });
  const { mcpServers } = await peer.ok({ type: 'get_state' });

  expect(mcpServers).toEqual([
    expect.objectContaining({ name: 'files', status: 'disabled' }),
    expect.objectContaining({ name: 'tickets', status: 'disabled' }),
    expect.objectContaining({ name: 'unused', status: 'disabled' }),
  ]);
});
