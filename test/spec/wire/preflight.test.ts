import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Finding, Preflight } from '../../../src/protocol/generated/vocabulary.ts';
import { type Home, newGate, newHome } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const preflight = (peer: Peer): Promise<Preflight> => peer.ok({ type: 'preflight' });

const about = (check: string, { findings }: Preflight): Finding | undefined =>
  findings.find((finding) => finding.check === check);

function withSettings(settings: object | string): Home {
  const home = newHome();
  mkdirSync(home.agentDir);
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings);
  writeFileSync(join(home.agentDir, 'settings.json'), text);
  return home;
}

verifies(
  'U20',
  'preflight looks at everything a prompt needs, and a prompt still gets the first answer',
  async (bench) => {
    const agent = await bench.open({ script: [{ text: 'the first answer' }], args: ['--model', 'tau/scripted'] });

    const found = await preflight(agent.peer);

    expect(found.ok).toBe(true);
    expect(found.findings.map(({ check }) => check)).toEqual([
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
    expect(about('session file', found)).toMatchObject({ status: 'ok', message: agent.sessionFiles()[0] });
    expect(about('tools', found)).toMatchObject({ status: 'ok', message: expect.stringContaining('bash') });
    expect(JSON.stringify(await agent.peer.run('hello'))).toContain('the first answer');
  },
);

verifies('U20', 'preflight is answered in the middle of a run and leaves it alone', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'half ' }, { await: gate.path }, { text: 'whole' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const answers = await Promise.all([preflight(peer), preflight(peer), preflight(peer)]);

  expect(answers.map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies(
  'U21',
  'a model that was named and cannot be used is an error, the one nobody chose a warning',
  async (bench) => {
    const unusable = await bench.open({ args: ['--model', 'anthropic/claude-opus-5-5'] });
    const unchosen = await bench.open();

    const [without, fallback] = [await preflight(unusable.peer), await preflight(unchosen.peer)];

    expect(without.ok).toBe(false);
    expect(about('model', without)).toMatchObject({ status: 'error', message: expect.stringContaining('set_model') });
    expect(fallback.ok).toBe(true);
    expect(about('model', fallback)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('tau/scripted'),
    });
  },
);

verifies('U21', 'a finding follows what was changed just before it was asked for', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'anthropic/claude-opus-5-5'] });

  const before = preflight(peer);
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  const after = await preflight(peer);

  expect((await before).findings).toHaveLength(after.findings.length);
  expect(about('model', after)).toEqual({ check: 'model', status: 'ok', message: 'tau/scripted-small' });
});

verifies('U21', 'a working folder and a session file that are gone are errors', async ({ open }) => {
  const { peer, home, sessionFiles } = await open();
  await peer.greeted();
  rmSync(sessionFiles()[0] ?? '');
  rmSync(home.cwd, { recursive: true });

  const found = await preflight(peer);

  expect(found.ok).toBe(false);
  expect(about('working folder', found)).toMatchObject({ status: 'error', message: expect.stringContaining(home.cwd) });
  expect(about('session file', found)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('new_session'),
  });
});

verifies(
  'U21',
  'a session that stays in memory has no file to look at',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session'] });

    const found = await preflight(peer);

    expect(about('session file', found)).toMatchObject({ status: 'ok', message: expect.stringContaining('memory') });
    expect(about('session folder', found)).toBeUndefined();
  },
  LOCAL_TRANSPORTS,
);

verifies('U21', 'a shell that is not there or fails is an error', async ({ open }) => {
  const missing = await open({ home: withSettings({ shellPath: '/nowhere/zsh' }) });
  const failing = await open({ home: withSettings({ shellPath: '/bin/false' }) });

  const found = [await preflight(missing.peer), await preflight(failing.peer)].map((answer) => about('shell', answer));

  for (const finding of found) {
    expect(finding).toMatchObject({ status: 'error', message: expect.stringContaining('shellPath') });
  }
});

verifies('U22', 'a shell that hangs is told of, and nothing of it is left', async ({ open }) => {
  const home = newHome();
  const shell = join(home.root, 'hanging-shell');
  const pids = join(home.root, 'pids');
  writeFileSync(shell, `#!/bin/sh\nsleep 1000 &\necho $$ $! > ${pids}\ntrap '' TERM\nwait\n`);
  chmodSync(shell, 0o755);
  mkdirSync(home.agentDir);
  writeFileSync(join(home.agentDir, 'settings.json'), JSON.stringify({ shellPath: shell }));
  const { peer } = await open({ home });

  const found = await preflight(peer);

  expect(about('shell', found)).toMatchObject({ status: 'error', message: expect.stringContaining('did not run') });
  expect(await filterAlive(readFileSync(pids, 'utf8').trim().split(' ').map(Number))).toEqual([]);
});

verifies('U21', 'settings that make no sense and a project that nobody trusts are warnings', async ({ open }) => {
  const home = withSettings('{"steeringMode":"sometimes"}');
  mkdirSync(join(home.cwd, '.pi'));
  writeFileSync(join(home.cwd, '.pi', 'settings.json'), '{}');
  const { peer } = await open({ home });

  const found = await preflight(peer);
  await peer.ok({ type: 'set_trust', trusted: true, remember: false });
  const trusted = await preflight(peer);

  expect(found.ok).toBe(true);
  expect(about('settings', found)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('steeringMode'),
  });
  expect(about('trust', found)).toMatchObject({ status: 'warning', message: expect.stringContaining('set_trust') });
  expect(about('trust', trusted)).toMatchObject({ status: 'ok' });
});

verifies('U23', 'keys are told by name only', async ({ open }) => {
  const home = withSettings('{"shellPath":sk-hunter2}');
  const { peer } = await open({ home, env: { ANTHROPIC_API_KEY: 'sk-hunter2', PI_AUTH_TOKEN: 'sk-hunter2' } });

  const found = await preflight(peer);

  expect(about('keys', found)?.message).toContain('ANTHROPIC_API_KEY, PI_AUTH_TOKEN');
  expect(about('settings', found)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('not valid JSON'),
  });
  expect(JSON.stringify(found)).not.toContain('hunter2');
});

verifies('U20 U23', 'the providers that can be used follow the files, and no key is told', async ({ open }) => {
  const double = await ProviderDouble.start(completions);
  const home = homeWithFiles({ models: { providers: { own: providerConfig(double.url, { apiKey: '!touch ran; echo hunter2' }) } } });
  const { peer } = await open({ home });

  const before = await preflight(peer);
  await peer.ok({ type: 'set_credential', provider: 'groq', apiKey: 'hunter2' });
  writeFileSync(join(home.agentDir, 'models.json'), '{"providers": {"own": {"api": 3}}}');
  const after = await preflight(peer);

  expect(about('providers', before)?.message).toBe('Usable: own (models.json: providers.own.apiKey)');
  expect(about('providers', after)?.message).toBe('Usable: groq (auth.json: groq.key)');
  expect(about('model files', after)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('models.json: providers.own.api '),
  });
  expect(JSON.stringify([before, after])).not.toContain('hunter2');
  expect(existsSync(join(home.agentDir, 'ran'))).toBe(false);
  expect(double.requests).toEqual([]);
});
