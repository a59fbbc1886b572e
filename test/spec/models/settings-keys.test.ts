import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { homeWithCommands, nextUiRequest } from '../../support/agent/extensions.ts';
import {
  type Home,
  newHome,
  openTestAgent,
  readSessionFile,
  writeSettings,
  writeUserFile,
} from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

const MODEL = `${providerOf(completions)}/m`;

async function openWith(settings: object, prepare: (home: Home) => void = () => undefined) {
  const { home, doubles } = await configureProviders([completions], { settings });
  prepare(home);
  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args: ['--model', MODEL] });
  return { peer, double: doubles[0] as ProviderDouble };
}

verifies('L56', 'a model starts with the thinking level that the settings give to it', async ({ open }) => {
  const home = newHome();
  writeSettings(home, {
    defaultThinkingLevel: 'low',
    modelThinkingLevels: { 'tau/scripted': 'high', 'tau/scripted-slow': 'no level' },
  });
  const { peer } = await open({ home, args: ['--model', 'tau/scripted'] });

  const levelAfter = async (modelId: string) => {
    await peer.ok({ type: 'set_model', provider: 'tau', modelId });
    return (await peer.ok({ type: 'get_state' })).thinkingLevel;
  };

  expect((await peer.ok({ type: 'get_state' })).thinkingLevel).toBe('high');
  await peer.ok({ type: 'set_thinking_level', level: 'minimal' });
  expect(await levelAfter('scripted-slow')).toBe('minimal');
  expect(await levelAfter('scripted')).toBe('high');
});

it('[L57] with images.blockImages no image is sent', async () => {
  const { peer, double } = await openWith({ images: { blockImages: true } });
  double.respondWith({ text: 'ok' });

  await peer.run({ message: 'look', images: [{ type: 'image', data: 'aW1n', mimeType: 'image/png' }] });

  const { text } = await double.request(0);
  expect(text).not.toContain('aW1n');
  expect(text).toContain('[An image, which this model cannot see]');
});

it('[L58] a server may require a retry delay up to retry.provider.maxRetryDelayMs', async () => {
  const { peer, double } = await openWith({ retry: { baseDelayMs: 1, provider: { maxRetryDelayMs: 50 } } });
  const busy = (ms: string) => ({ status: 429, message: 'Slow down', headers: { 'retry-after-ms': ms } });
  double.respondWith(busy('40'), { text: 'ok' }, busy('60'), { text: 'never' });

  const first = await peer.run('go');
  const second = await peer.run('again');

  expect(first.find(({ type }) => type === 'auto_retry_start')).toMatchObject({ delayMs: 40 });
  expect(first.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(second.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'rate_limited', retryAfterMs: 60 });
});

it('[L58] tau waits at most retry.maxAgentDelayMs by its own choice', async () => {
  const { peer, double } = await openWith({ retry: { baseDelayMs: 3_600_000, maxAgentDelayMs: 1 } });
  double.respondWith({ status: 529, message: 'Busy' }, { text: 'ok' });

  const records = await peer.run('go');

  expect(records.find(({ type }) => type === 'auto_retry_start')).toMatchObject({ delayMs: 1 });
});

for (const [defaultTools, offered] of [
  [
    ['read', 'ls'],
    ['read', 'ls'],
  ],
  [
    ['+grep', '-write'],
    ['read', 'bash', 'edit', 'grep'],
  ],
] as const) {
  verifies('M31', `with defaultTools ${defaultTools} the model is offered ${offered}`, async ({ open }) => {
    const home = newHome();
    writeSettings(home, { defaultTools });
    const { peer } = await open({ home });

    const { tools } = await peer.ok({ type: 'get_tools' });
    const active = tools.flatMap(({ name, active }: { name: string; active: boolean }) => (active ? [name] : []));
    expect(active.toSorted()).toEqual(offered.toSorted());
  });
}

verifies('L59', 'compaction.modelOverrides sets the limits of one model', async ({ open }) => {
  const home = newHome();
  const own = { 'tau/scripted': { reserveTokens: 49_000, keepRecentTokens: 10 } };
  writeSettings(home, { compaction: { keepRecentTokens: 1_000_000, modelOverrides: own } });
  const script = [{ text: 'one' }, { text: 'two' }, { text: 'the gist' }];
  const { peer, sessionFiles } = await open({ home, script, args: ['--model', 'tau/scripted'] });
  await peer.run(`first ${'word '.repeat(60)}`);
  await peer.run(`second ${'word '.repeat(60)}`);

  await peer.ok({ type: 'compact' });

  expect(readSessionFile(sessionFiles()[0] ?? '').at(-1)).toMatchObject({ type: 'compaction', summary: 'the gist' });
});

verifies('L59', 'getSettings() of an extension keeps the keys of other programs', async ({ open }) => {
  const { home } = homeWithCommands({ show: 'tell(ctx, pi.getSettings());' });
  const keys = { myExtension: { colour: 'green' }, transport: 'sse', compaction: { enabled: true, custom: 1 } };
  writeSettings(home, { startWaitMs: 3_600_000, ...keys });
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/show' });

  const { message } = await nextUiRequest(peer, 'notify');
  expect(JSON.parse(message)).toMatchObject(keys);
  expect(peer.records.filter(({ type }) => type === 'warning')).toEqual([]);
});

it('[L59] httpProxy of the user is used for servers on other machines, and that of a project is not', async () => {
  const double = await ProviderDouble.start(completions);
  const home = newHome();
  writeSettings(home, { httpProxy: double.url });
  mkdirSync(join(home.cwd, '.pi'), { recursive: true });
  writeFileSync(join(home.cwd, '.pi', 'settings.json'), JSON.stringify({ httpProxy: 'http://127.0.0.1:1' }));
  const far = { baseUrl: 'http://models.invalid/v1', api: 'openai-completions', apiKey: 'k', models: [{ id: 'm' }] };
  writeUserFile(home, 'models.json', JSON.stringify({ providers: { far } }));
  double.respondWith({ text: 'through the proxy' });
  const { peer } = await openTestAgent('stdio', { home, args: ['--model', 'far/m', '--approve'] });

  await peer.run('hi');

  expect((await double.request(0)).path).toBe('http://models.invalid/v1/chat/completions');
});

it('[L59] with enableSkillCommands false a skill is listed in the prompt and is no command', async () => {
  const { peer, double } = await openWith({ enableSkillCommands: false }, ({ agentDir }) => {
    mkdirSync(join(agentDir, 'skills/tidy'), { recursive: true });
    const text = '---\nname: tidy\ndescription: Cleans up.\n---\nDo it.';
    writeFileSync(join(agentDir, 'skills/tidy/SKILL.md'), text);
  });
  double.respondWith({ text: 'ok' });

  const { commands } = await peer.ok({ type: 'get_commands' });
  await peer.run('hi');

  expect(JSON.stringify(commands)).not.toContain('skill:tidy');
  expect((await double.request(0)).text).toContain('Cleans up.');
});
