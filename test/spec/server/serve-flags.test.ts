import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import project from '../../../package.json' with { type: 'json' };
import { newHome, TAU } from '../../support/agent/test-agent.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { startTauInTerminal } from '../../support/processes/terminal.ts';
import { OWNER_TOKEN, startServer } from '../../support/server/test-server.ts';

it('[W60] agents are started with the agent flags of the server, whatever their folder', async () => {
  const home = newHome();
  mkdirSync(join(home.cwd, 'sub'));
  const files = {
    'script.jsonl': '{"steps":[{"text":"As told."}]}\n',
    'more.ts': `export default (pi) => pi.registerCommand('more', { handler: async () => {} });\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home.cwd, name), text);
  const model = ['--model', 'tau/scripted-slow', '--thinking', 'low', '--script', 'script.jsonl'];
  const others = ['--tools', 'read', '-ne', '-e', 'more.ts'];
  const server = startProgram(home, [process.execPath, TAU, 'serve', '--port', '0', ...model, ...others], {
    env: { PI_AUTH_TOKEN: OWNER_TOKEN },
  });
  await server.waitForOutput('/session\n');
  const [, url = ''] = server.stdout().split('\n');

  const peer = new RemotePeer(`${url}?token=${OWNER_TOKEN}&cwd=${encodeURIComponent(join(home.cwd, 'sub'))}`);
  const { state } = await peer.next('state_synced');
  const { tools } = await peer.ok({ type: 'get_tools' });
  const { commands } = await peer.ok({ type: 'get_commands' });
  await peer.run('Well?');
  const { text } = await peer.ok({ type: 'get_last_assistant_text' });

  expect(state).toMatchObject({ model: { id: 'scripted-slow' }, thinkingLevel: 'low' });
  expect(tools.filter(({ active }: { active: boolean }) => active)).toMatchObject([{ name: 'read' }]);
  expect(commands).toMatchObject([{ name: 'more' }]);
  expect(text).toBe('As told.');
});

it('[W60] a custom agent command gets the same flags, with absolute paths', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'prompt.md'), 'Be brief.\n');
  const flagArgs = ['--no-approve', '--skill', 'one', '--skill', '~/two', '--system-prompt', 'prompt.md'];
  const server = await startServer({
    home,
    args: [...flagArgs, '--append-system-prompt', '- never shout', '--model', 'tau/scripted'],
  });
  await server.attach();

  const [{ args } = { args: '' }] = server.agents();

  for (const flag of [
    `--skill ${join(home.cwd, 'one')}`,
    `--skill ${join(home.root, 'two')}`,
    `--system-prompt ${join(home.cwd, 'prompt.md')}`,
    '--append-system-prompt=- never shout',
    '--model tau/scripted',
    '--no-approve',
  ]) {
    expect(args).toContain(flag);
  }
});

it.each(
  [
    ['--session', 'a'],
    ['--session-id', 'a'],
    ['--continue'],
    ['--resume'],
    ['--fork', 'a'],
    ['--no-session'],
    ['--session-dir', '.'],
    ['--name', 'a'],
    ['--print'],
    ['--mode', 'json'],
    ['--mode', 'rpc'],
    ['--stream', 'delta'],
    ['--on-eof', 'abort'],
    ['--verbose'],
    ['--export', 'a'],
    ['--list-models'],
    ['--print-system-prompt'],
    ['--json'],
  ].map((flagArgs) => [flagArgs.join(' '), flagArgs] as const),
)('[W61] %s is rejected by tau serve', async (_label, flagArgs) => {
  const result = await runTau(newHome(), ['serve', '--port', '0', ...flagArgs]);

  const message = `tau: ${flagArgs[0]} does not go with tau serve (see tau help server)\n`;
  expect(result).toEqual({ code: 2, signal: null, stdout: '', stderr: message });
});

it('[W61] --api-key is rejected, because process lists show arguments', async () => {
  const result = await runTau(newHome(), ['serve', '--port', '0', '--model', 'tau/scripted', '--api-key', 'sk-secret']);

  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toMatch(/^tau: --api-key does not go with tau serve: .+auth\.json \(see tau help server\)\n$/);
  expect(result.stderr).not.toContain('sk-secret');
});

it('[W60] on a terminal the server labels each address', async () => {
  const server = startTauInTerminal(newHome(), ['serve', '--port', '0', '--socket', 'a.sock'], { columns: 200 });

  await server.waitForScreen('a.sock');

  expect(server.screen().trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^Page, opens once within 10 minutes: +http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}$/),
    expect.stringMatching(/^WebSocket, for programs that have a token: ws:\/\/127\.0\.0\.1:\d+\/session$/),
    expect.stringMatching(/^Socket file, for tau attach: +\/.*\/a\.sock$/),
  ]);
});

it('[W62] npm start forwards a signal', async () => {
  const home = newHome();
  const { start } = project.scripts;
  mkdirSync(join(home.cwd, 'scripts'));
  writeFileSync(join(home.cwd, 'scripts/build.mjs'), '');
  writeFileSync(join(home.cwd, 'package.json'), JSON.stringify({ name: project.name, scripts: { start } }));
  symlinkSync(join(TAU, '..'), join(home.cwd, 'dist'));
  const npm = startProgram(home, ['npm', 'start', '--silent', '--', '--port', '0']);
  await npm.waitForOutput('/session\n');

  npm.child.kill('SIGTERM');

  // It finishes when all its processes have closed their output.
  expect((await npm.finished).stdout.split('\n')).toHaveLength(3);
});
