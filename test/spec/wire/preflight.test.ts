import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Finding, Preflight } from '../../../src/protocol/generated/vocabulary.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { type Home, newGate, newHome } from '../../support/agent/test-agent.ts';
import { homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const preflight = (peer: Peer): Promise<Preflight> => peer.ok({ type: 'preflight' });

const findingFor = (check: string, { findings }: Preflight): Finding | undefined =>
  findings.find((finding) => finding.check === check);

function withSettings(settings: object | string): Home {
  const home = newHome();
  mkdirSync(home.agentDir);
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings);
  writeFileSync(join(home.agentDir, 'settings.json'), text);
  return home;
}

verifies('U20', 'preflight checks everything a prompt needs and uses up no model response', async (fixture) => {
  const agent = await fixture.open({ script: [{ text: 'the first answer' }], args: ['--model', 'tau/scripted'] });

  const checked = await preflight(agent.peer);

  expect(checked.ok).toBe(true);
  expect(checked.findings.map(({ check }) => check)).toEqual([
    'model',
    'providers',
    'model files',
    'keys',
    'working folder',
    'session file',
    'session folder',
    'temporary folder',
    'shell',
    'tools',
    'settings',
    'trust',
    'disk space',
    'ripgrep',
    'sharp',
  ]);
  expect(findingFor('session file', checked)).toMatchObject({ status: 'ok', message: agent.sessionFiles()[0] });
  expect(findingFor('tools', checked)).toMatchObject({ status: 'ok', message: expect.stringContaining('bash') });
  expect(JSON.stringify(await agent.peer.run('hello'))).toContain('the first answer');
});

verifies('U20', 'preflight is answered during a run and does not affect it', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'half ' }, { await: gate.path }, { text: 'whole' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const reports = await Promise.all([preflight(peer), preflight(peer), preflight(peer)]);

  expect(reports.map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies('U21', 'an unusable model is an error if chosen, a fallback model a warning', async (fixture) => {
  const unusable = await fixture.open({ args: ['--model', 'anthropic/claude-opus-5-5'] });
  const unchosen = await fixture.open();

  const [without, fallback] = [await preflight(unusable.peer), await preflight(unchosen.peer)];

  expect(without.ok).toBe(false);
  expect(findingFor('model', without)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('set_model'),
  });
  expect(fallback.ok).toBe(true);
  expect(findingFor('model', fallback)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('tau/scripted'),
  });
});

verifies('U21', 'preflight reflects a change made just before it', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'anthropic/claude-opus-5-5'] });

  const before = preflight(peer);
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  const after = await preflight(peer);

  expect((await before).findings).toHaveLength(after.findings.length);
  expect(findingFor('model', after)).toEqual({ check: 'model', status: 'ok', message: 'tau/scripted-small' });
});

verifies('U21', 'a missing working folder and a missing session file are errors', async ({ open }) => {
  const { peer, home, sessionFiles } = await open();
  await peer.greeted();
  rmSync(sessionFiles()[0] ?? '');
  rmSync(home.cwd, { recursive: true });

  const checked = await preflight(peer);

  expect(checked.ok).toBe(false);
  expect(findingFor('working folder', checked)).toMatchObject({
    status: 'error',
    message: expect.stringContaining(home.cwd),
  });
  expect(findingFor('session file', checked)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('new_session'),
  });
});

verifies(
  'U21',
  'a session in memory has no session file check',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session'] });

    const checked = await preflight(peer);

    expect(findingFor('session file', checked)).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('memory'),
    });
    expect(findingFor('session folder', checked)).toBeUndefined();
  },
  LOCAL_TRANSPORTS,
);

verifies('U21', 'a missing or failing shell is an error', async ({ open }) => {
  const missing = await open({ home: withSettings({ shellPath: '/nowhere/zsh' }) });
  const failing = await open({ home: withSettings({ shellPath: '/bin/false' }) });

  const checked = [await preflight(missing.peer), await preflight(failing.peer)].map((report) =>
    findingFor('shell', report),
  );

  for (const finding of checked) {
    expect(finding).toMatchObject({ status: 'error', message: expect.stringContaining('shellPath') });
  }
});

verifies('U22', 'a shell that hangs is reported and killed', async ({ open }) => {
  const home = newHome();
  const shell = join(home.root, 'hanging-shell');
  const pids = join(home.root, 'pids');
  writeFileSync(shell, `#!/bin/sh\nsleep 1000 &\necho $$ $! > ${pids}\ntrap '' TERM\nwait\n`);
  chmodSync(shell, 0o755);
  mkdirSync(home.agentDir);
  writeFileSync(join(home.agentDir, 'settings.json'), JSON.stringify({ shellPath: shell }));
  const { peer } = await open({ home });

  const checked = await preflight(peer);

  expect(findingFor('shell', checked)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('did not run'),
  });
  expect(await filterAlive(readFileSync(pids, 'utf8').trim().split(' ').map(Number))).toEqual([]);
});

verifies('U21', 'invalid settings and an untrusted project are warnings', async ({ open }) => {
  const home = withSettings('{"steeringMode":"sometimes"}');
  mkdirSync(join(home.cwd, '.pi'));
  writeFileSync(join(home.cwd, '.pi', 'settings.json'), '{}');
  const { peer } = await open({ home });

  const checked = await preflight(peer);
  await peer.ok({ type: 'set_trust', trusted: true, remember: false });
  const trusted = await preflight(peer);

  expect(checked.ok).toBe(true);
  expect(findingFor('settings', checked)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('steeringMode'),
  });
  expect(findingFor('trust', checked)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('set_trust'),
  });
  expect(findingFor('trust', trusted)).toMatchObject({ status: 'ok' });
});

verifies('U23', 'keys are reported by name only', async ({ open }) => {
  const home = withSettings('{"shellPath":sk-hunter2}');
  const { peer } = await open({ home, env: { ANTHROPIC_API_KEY: 'sk-hunter2', PI_AUTH_TOKEN: 'sk-hunter2' } });

  const checked = await preflight(peer);

  expect(findingFor('keys', checked)?.message).toContain('ANTHROPIC_API_KEY, PI_AUTH_TOKEN');
  expect(findingFor('settings', checked)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('not valid JSON'),
  });
  expect(JSON.stringify(checked)).not.toContain('hunter2');
});

verifies('U20 U23', 'the usable providers follow the files, and no key is reported', async ({ open }) => {
  const double = await ProviderDouble.start(completions);
  const home = homeWithFiles({
    models: { providers: { own: providerConfig(double.url, { apiKey: '!touch ran; echo hunter2' }) } },
  });
  const { peer } = await open({ home });

  const before = await preflight(peer);
  await peer.ok({ type: 'set_credential', provider: 'groq', apiKey: 'hunter2' });
  writeFileSync(join(home.agentDir, 'models.json'), '{"providers": {"own": {"api": 3}}}');
  const after = await preflight(peer);

  expect(findingFor('providers', before)?.message).toBe('Usable: own (models.json: providers.own.apiKey)');
  expect(findingFor('providers', after)?.message).toBe('Usable: groq (auth.json: groq.key)');
  expect(findingFor('model files', after)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('models.json: providers.own.api '),
  });
  expect(JSON.stringify([before, after])).not.toContain('hunter2');
  expect(existsSync(join(home.agentDir, 'ran'))).toBe(false);
  expect(double.requests).toEqual([]);
});
