import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { newHome } from '../../support/agent/test-agent.ts';
import { startProgram } from '../../support/processes/program.ts';

const root = join(import.meta.dirname, '../../..');
const modules = join(root, 'node_modules');

// A project into which npm has installed the packed package, without a network and without install scripts.
let project: string;

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'tau-installed-')));
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: project, stdio: 'pipe', encoding: 'utf8' });
  npm('pack', root, '--ignore-scripts', '--silent');
  const [archive = ''] = readdirSync(project);
  // The registry is out of reach: the dependencies are those of the clone.
  const names = Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies });
  const overrides = Object.fromEntries(names.map((name) => [name, `file:${join(modules, name)}`]));
  const manifest = { private: true, dependencies: { 'tau-agent': `file:${archive}` }, overrides };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  npm('install', '--offline', '--ignore-scripts', '--no-package-lock');
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Runs a program in the project. */
function run(program: readonly string[]) {
  const home = newHome();
  return startProgram({ ...home, cwd: project }, program, { input: '' }).finished;
}

const node = (code: string) => run([process.execPath, '--input-type=module', '-e', code]);

it('[Z90] the installed command runs a prompt with a tool, and has no command pi', async () => {
  const { code, stdout, stderr } = await run([join(project, 'node_modules/.bin/tau'), '-p', 'run `echo installed`']);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('installed');
  expect(readdirSync(join(project, 'node_modules/.bin'))).not.toContain('pi');
});

it('[Z90] the installed command finds its page, its catalogue and ripgrep', async () => {
  const { stdout } = await run([join(project, 'node_modules/.bin/tau'), 'doctor', '--json']);

  const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string }[] };
  expect(findings).toContainEqual(expect.objectContaining({ check: 'ripgrep', status: 'ok' }));
  expect(readdirSync(join(project, 'node_modules/tau-agent/dist'))).toEqual(
    expect.arrayContaining(['catalogue', 'page']),
  );
});

it('[Z90] an agent runs inside a program, and as its child, with the installed package', async () => {
  const { code, stdout, stderr } = await node(`
    import { openAgent } from 'tau-agent';
    import { emptyView } from 'tau-agent/client';
    import { spawnAgent } from 'tau-agent/client/node';
    import { commandRows } from 'tau-agent/protocol';
    const embedded = await openAgent({ session: 'memory' });
    const inside = await embedded.client.promptAndWait('say one');
    await embedded.close();
    const { client, close } = spawnAgent({ args: ['--no-session'] });
    const outside = await client.promptAndWait('say two');
    await close();
    console.log(inside.settled?.outcome, outside.settled?.outcome, typeof emptyView, Object.keys(commandRows).length > 50);
  `);

  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^ok ok \w+ true\n$/),
    stderr: '',
  });
});

const PROGRAM = `
import { type AgentSessionEvent, createAgentSession, type ExtensionAPI, openAgent } from 'tau-agent';
import { AgentClient, emptyView, reduce } from 'tau-agent/client';
import { connectRemote, spawnAgent } from 'tau-agent/client/node';
import { check, errorCodes } from 'tau-agent/protocol';

export const gate = (pi: ExtensionAPI): void => {
  pi.on('tool_call', (event) => ({ block: event.toolName === 'bash' }));
};
export const events: AgentSessionEvent[] = [];
export const all = [AgentClient, emptyView, reduce, connectRemote, spawnAgent, check, errorCodes, createAgentSession];
const agent = await openAgent();
const { settled } = await agent.client.promptAndWait('hello');
export const outcome: string | undefined = settled?.outcome;
`;

it.each(['nodenext', 'bundler'])(
  '[Z90] the installed types compile in a strict project with %s resolution',
  async (resolution) => {
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    for (const name of ['@types/node', 'undici-types']) {
      rmSync(join(project, 'node_modules', name), { force: true });
      symlinkSync(join(modules, name), join(project, 'node_modules', name));
    }
    writeFileSync(join(project, 'program.mts'), PROGRAM);
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext';
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2023',
      module,
      moduleResolution: resolution,
      types: ['node'],
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.mts'] }));

    const { code, stdout } = await run([join(modules, '.bin/tsc'), '-p', '.']);

    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  },
);
