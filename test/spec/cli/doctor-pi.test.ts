import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Finding, Preflight } from '../../../src/protocol/generated/vocabulary.ts';
import { newPiSetup } from '../../support/agent/pi-setup.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { homeWithFiles, writeFiles } from '../../support/agent/user-files.ts';
import { runTau } from '../../support/processes/program.ts';

async function piFindings(
  home: Home,
  env: Record<string, string> = {},
  ...flags: readonly string[]
): Promise<readonly Finding[]> {
  const { stdout, stderr } = await runTau(home, ['doctor', '--pi', '--json', ...flags], { env, input: '' });
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as Preflight).findings;
}

const about = (findings: readonly Finding[], name: string) =>
  findings.filter(({ check }) => check === name).map(({ status, message }) => [status, message]);

it('[Z89] tau doctor --pi lists what tau uses of a set-up of pi, and what it does not', async () => {
  const home = newPiSetup();
  const { agentDir } = home;

  const findings = await piFindings(home);

  expect(about(findings, 'agent folder')).toEqual([['ok', `${agentDir}: pi and tau share it`]]);
  expect(about(findings, 'settings.json')).toEqual([
    ['ok', 'Used: defaultProvider, defaultModel, compaction.enabled, compaction.modelOverrides, packages'],
    ['ok', "Only for pi's terminal and updates: $schema, lastChangelogVersion, theme, terminal"],
    ['warning', 'tau itself does not use cacheWarming'],
  ]);
  expect(about(findings, 'models.json')).toEqual([
    ['ok', 'gateway: 1 models, 0 changed ones'],
    ['warning', expect.stringMatching(/^Ignored: models\.json: .*broken/)],
  ]);
  expect(about(findings, 'auth.json')).toEqual([
    ['ok', 'openai (key): used'],
    ['warning', expect.stringMatching(/^anthropic \(sign-in\): not used\. .*API key/)],
    ['warning', 'radius (sign-in): not used, because tau has no models of this provider'],
  ]);
  expect(about(findings, 'extensions')).toEqual([
    ['warning', `${agentDir}/extensions/footer.ts: loaded, but it imports pi-tui, whose components do nothing`],
    ['ok', `${agentDir}/extensions/gate.ts`],
    ['ok', `${agentDir}/npm/node_modules/pi-mcp-adapter/index.ts`],
  ]);
  expect(about(findings, 'packages')).toEqual([
    ['ok', 'npm:pi-mcp-adapter: 1 extensions, 0 skills, 0 templates'],
    ['warning', expect.stringContaining('npm:pi-absent is not installed')],
  ]);
  expect(about(findings, 'mcp.json')).toEqual([
    ['ok', 'files: tau connects it'],
    ['ok', 'off: disabled'],
    ['warning', expect.stringMatching(/^Ignored: .*bad/)],
    ['warning', `${agentDir}/mcp.json: tau does not use mcpServers.files.auth`],
    ['warning', expect.stringContaining('pi-mcp-adapter')],
  ]);
  expect(about(findings, 'sessions')).toEqual([['ok', expect.stringMatching(/^1 session of .* stored$/)]]);
  expect(about(findings, 'prompts')).toEqual([['ok', `${agentDir}/prompts: used`]]);
  for (const name of ['keybindings.json', 'themes']) {
    expect(about(findings, name)).toEqual([['ok', `${join(agentDir, name)}: only for pi's terminal`]]);
  }
});

it('[Z89] tau doctor --pi lists the files of the project too', async () => {
  const home = newHome();
  const { cwd } = home;
  writeFiles(home, {
    'project/.pi/settings.json': '{"defaultModel":"large","ofAnExtension":1}',
    'project/.pi/skills/ship/SKILL.md': '---\ndescription: Ships.\n---\nShip.',
    'project/.pi/prompts/review.md': 'Review.',
    'project/AGENTS.md': 'Be brief.',
  });

  const untrusted = await piFindings(home);
  const trusted = await piFindings(home, {}, '--approve');

  expect(about(untrusted, '.pi/settings.json')).toEqual([
    ['warning', `${cwd}/.pi/settings.json: not used, because the project is not trusted`],
  ]);
  expect(about(trusted, '.pi/settings.json')).toEqual([
    ['ok', 'Used: defaultModel'],
    ['warning', 'tau itself does not use ofAnExtension'],
  ]);
  for (const findings of [untrusted, trusted]) {
    for (const name of ['.pi/skills', '.pi/prompts', 'AGENTS.md'])
      expect(about(findings, name)).toEqual([['ok', `${cwd}/${name}: used`]]);
  }
});

it('[Z89] no secret of the files is printed', async () => {
  const { stdout } = await runTau(newPiSetup(), ['doctor', '--pi'], { input: '' });

  expect(stdout).toContain('anthropic');
  expect(stdout).not.toMatch(/secret|sk-of|key-of/);
});

it('[Z89] malformed files are findings, and an empty machine has none to report', async () => {
  const home = newPiSetup();
  for (const name of ['settings.json', 'models.json', 'auth.json', 'mcp.json']) {
    writeFileSync(join(home.agentDir, name), '{');
  }

  const broken = await piFindings(home);
  const empty = await piFindings(newHome());

  for (const name of ['settings.json', 'models.json', 'auth.json', 'mcp.json']) {
    const statuses = broken.filter(({ check }) => check === name).map(({ status }) => status);
    expect(statuses, name).not.toContain('ok');
    expect(statuses.length, name).toBeGreaterThan(0);
  }
  expect(empty.filter(({ status }) => status !== 'ok')).toMatchObject([{ check: 'agent folder', status: 'warning' }]);
});

it('[Z89] a provider may have the name of a method of objects', async () => {
  const credential = { type: 'oauth', access: 'a', refresh: 'r', expires: 4_000_000_000_000 };

  const findings = await piFindings(homeWithFiles({ auth: { toString: credential } }));

  expect(about(findings, 'auth.json')).toEqual([
    ['warning', 'toString (sign-in): not used, because tau has no models of this provider'],
  ]);
});

it('[Z89] an installed pi is named', async () => {
  const home = newHome();
  const pi = join(home.root, 'pi');
  writeFileSync(pi, '#!/bin/sh\n');
  chmodSync(pi, 0o755);

  const findings = await piFindings(home, { PATH: `${home.root}:${process.env['PATH']}` });

  expect(about(findings, 'pi')[0]).toEqual(['ok', pi]);
});
