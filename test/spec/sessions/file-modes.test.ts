import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, sessionFiles, TAU, writeUserFile } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

it('[J30] files and folders of the agent folder are private to the user whatever the umask', async () => {
  const home = newHome();
  const shell = 'umask 000; exec "$0" "$1" --mode rpc';
  const input = [
    { type: 'set_thinking_level', level: 'high', persist: true },
    { type: 'set_credential', provider: 'openai', apiKey: 'key' },
    { type: 'set_trust', trusted: true, remember: true },
    { type: 'prompt', message: 'say hello' },
  ];
  const lines = input.map((command) => `${JSON.stringify(command)}\n`).join('');

  await startProgram(home, ['sh', '-c', shell, process.execPath, TAU], { input: lines }).finished;

  const [session = ''] = sessionFiles(home);
  const folders = [home.agentDir, dirname(session), dirname(dirname(session))];
  expect(folders.map(modeOf)).toEqual(['700', '700', '700']);
  const files = readdirSync(home.agentDir).filter((name) => name.endsWith('.json'));
  expect(files).toContain('settings.json');
  expect([session, ...files.map((name) => join(home.agentDir, name))].map(modeOf)).toEqual(
    Array.from({ length: files.length + 1 }, () => '600'),
  );
});

it('[J30] a settings file that the user has made readable for others stays so', async () => {
  const home = newHome();
  writeUserFile(home, 'settings.json', '{}');
  chmodSync(join(home.agentDir, 'settings.json'), 0o640);
  const input = `${JSON.stringify({ type: 'set_thinking_level', level: 'high', persist: true })}\n`;

  await runTau(home, ['--mode', 'rpc'], { input });

  expect(modeOf(join(home.agentDir, 'settings.json'))).toBe('640');
});

it('[U33] tau doctor warns about files and folders that other users can change', async () => {
  const home = newHome();
  mkdirSync(home.agentDir);
  writeUserFile(home, 'settings.json', '{}');
  for (const [path, mode] of [
    [home.agentDir, 0o777],
    [join(home.agentDir, 'settings.json'), 0o666],
  ] as const)
    chmodSync(path, mode);

  const { stdout } = await runTau(home, ['doctor', '--json']);

  const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; message: string }[] };
  const loose = findings.filter(({ message }) => message.includes('can be changed by other users'));
  expect(loose).toMatchObject([
    { check: 'settings.json', status: 'warning', message: expect.stringContaining('chmod 600') },
    { check: 'agent folder', status: 'warning', message: expect.stringContaining('chmod 700') },
  ]);
});
