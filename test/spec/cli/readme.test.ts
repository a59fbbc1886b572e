import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { environment, newHome } from '../../support/agent/test-agent.ts';

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

it('the TypeScript example runs to its end', () => {
  const code = example('Drive it from TypeScript', 'ts').replace("'tau/client/node'", "'./dist/client-node.js'");

  expect(run(process.execPath, ['--input-type=module', '-e', code])).toMatch(/^read \{.*\}\nok 4\n$/s);
});

it('the embedding example blocks the forbidden tool', () => {
  const [, , code = ''] = readme.split('```ts\n');
  const [body = ''] = code.split('```');
  const runnable = body
    .replace("'tau'", "'./dist/index.js'")
    .replace('await agent.client', 'const run = await agent.client');
  const program = `${runnable}\nconsole.log(run.messages[2].isError, run.messages[2].content[0].text);`;

  expect(run(process.execPath, ['--input-type=module', '-e', program])).toBe('true Reading only.\n');
});
