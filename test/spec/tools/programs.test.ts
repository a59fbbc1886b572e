import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, it } from 'vitest';
import { homeWithCommands, nextNotification } from '../../support/agent/extensions.ts';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

/** A PATH without ripgrep, on which an agent still finds the programs that it starts. */
function pathWithoutRipgrep({ root }: Home): { PATH: string } {
  const folder = join(root, 'programs');
  mkdirSync(folder);
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const name of ['mkfifo', 'node', 'ps', 'sh']) {
    const found = folders.map((from) => join(from, name)).find((path) => existsSync(path));
    if (found) symlinkSync(found, join(folder, name));
  }
  return { PATH: folder };
}

const VERSION = /^ripgrep \d+/;

verifies('Z87', 'commands find rg, which is linked by the first of them', async ({ open }) => {
  const home = newHome();
  const link = join(home.agentDir, 'bin/rg');
  const { peer } = await open({ home, env: pathWithoutRipgrep(home) });
  await peer.ok({ type: 'get_state' });
  expect(existsSync(link)).toBe(false);

  const { output } = await peer.ok({ type: 'bash', command: 'rg --version; command -v rg' });

  expect(output).toMatch(VERSION);
  expect(output.trimEnd().split('\n').at(-1)).toBe(link);
  expect(readdirSync(join(home.agentDir, 'bin'))).toEqual(['rg']);
  expect(readlinkSync(link)).toBe(rgPath);
});

it('[Z87] a ripgrep of the user is neither replaced nor shadowed', async () => {
  const home = newHome();
  const env = pathWithoutRipgrep(home);
  writeFileSync(join(env.PATH, 'rg'), '#!/bin/sh\necho mine\n');
  chmodSync(join(env.PATH, 'rg'), 0o755);
  const { peer } = await openTestAgent('stdio', { home, env });

  expect(await peer.ok({ type: 'bash', command: 'rg' })).toMatchObject({ output: 'mine\n' });
  expect(existsSync(join(home.agentDir, 'bin'))).toBe(false);
});

it('[Z87] a link to a removed installation is replaced; commands run where no link can be made', async () => {
  const home = newHome();
  const env = pathWithoutRipgrep(home);
  const link = join(home.agentDir, 'bin/rg');
  mkdirSync(join(home.agentDir, 'bin'), { recursive: true });
  symlinkSync('/nowhere/rg', link);
  const { peer } = await openTestAgent('stdio', { home, env });
  const other = newHome();
  mkdirSync(other.agentDir);
  writeFileSync(join(other.agentDir, 'bin'), 'a file');
  const blocked = await openTestAgent('stdio', { home: other, env });

  expect((await peer.ok({ type: 'bash', command: 'rg --version' })).output).toMatch(VERSION);
  expect(await blocked.peer.ok({ type: 'bash', command: 'echo still' })).toMatchObject({ output: 'still\n' });

  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readlinkSync(link)).toBe(rgPath);
});

it('[Z87 Z88] programs that an extension starts find rg, and recognize an agent', async () => {
  const { home } = homeWithCommands(
    {
      exec: `tell(ctx, (await pi.exec('rg', ['--version'])).stdout.split(' ')[0]);`,
      spawn: `tell(ctx, execFileSync('rg', ['--version'], { encoding: 'utf8' }).split(' ')[0]);`,
      marks: `tell(ctx, execFileSync('sh', ['-c', 'echo "$PI_CODING_AGENT $AI_AGENT"'], { encoding: 'utf8' }));`,
    },
    `const { execFileSync } = process.getBuiltinModule('node:child_process');`,
  );
  const { peer } = await openTestAgent('stdio', { home, env: pathWithoutRipgrep(home) });
  const notifiedBy = async (command: string) => {
    await peer.ok({ type: 'prompt', message: `/${command}` });
    return nextNotification(peer);
  };

  expect(await notifiedBy('exec')).toEqual('ripgrep');
  expect(await notifiedBy('spawn')).toEqual('ripgrep');
  expect(await notifiedBy('marks')).toEqual('true tau\n');
});
