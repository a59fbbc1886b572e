import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { openTestAgent, readSessionFile } from '../../support/agent/test-agent.ts';
import { agentFileText, homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { runTau } from '../../support/processes/program.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const thinker = { reasoning: true };
const models = [
  { id: 'alpha-1', name: 'Alpha One' },
  { id: 'alpha-2', name: 'Alpha Two', ...thinker },
  { id: 'beta-20250101', name: 'Beta', ...thinker, thinkingLevelMap: { xhigh: 'most' } },
  { id: 'beta-latest', name: 'Beta, the latest', ...thinker, thinkingLevelMap: { minimal: null, low: null } },
];

/** A home with two providers: one with four models, one with one. */
const user = (settings: object = {}, url = 'http://127.0.0.1:1') =>
  homeWithFiles({
    models: {
      providers: { own: providerConfig(url, { models }), two: providerConfig(url, { models: [{ id: 'alpha-1' }] }) },
    },
    settings,
  });

const chosen = async (peer: Peer) => {
  const { model, thinkingLevel } = await peer.ok({ type: 'get_state' });
  return `${model?.provider}/${model?.id}:${thinkingLevel}`;
};

verifies(
  'L35',
  'a model that an extension may add does not fail the start, and no other model replaces it',
  async ({ open }) => {
    const home = homeWithFiles({});
    mkdirSync(join(home.agentDir, 'extensions'), { recursive: true });
    const { peer } = await open({ home, args: ['--model', 'acme/x'] });

    const { model, modelFallbackMessage } = await peer.ok({ type: 'get_state' });
    const refused = await peer.refused({ type: 'prompt', message: 'hi' });

    expect(model).toBeNull();
    expect(modelFallbackMessage).toBe('Model "acme/x" not found. Use --list-models to see available models.');
    expect(refused).toMatchObject({ code: 'model_not_found', error: modelFallbackMessage });
  },
);

describe('[Z5] --model accepts', () => {
  it.each([
    ['a full name', ['--model', 'own/alpha-2'], 'own/alpha-2:medium'],
    ['a name in other case', ['--model', 'OWN/Alpha-2'], 'own/alpha-2:medium'],
    ['an id without its provider', ['--model', 'alpha-2'], 'own/alpha-2:medium'],
    ['a part of an id', ['--model', 'pha-2'], 'own/alpha-2:medium'],
    ['a part of a name', ['--model', 'Alpha Two'], 'own/alpha-2:medium'],
    ['a part of several ids, preferring the undated one', ['--model', 'own/beta'], 'own/beta-latest:medium'],
    ['an id with --provider', ['--provider', 'TWO', '--model', 'alpha'], 'two/alpha-1:off'],
    ['a thinking level suffix', ['--model', 'alpha-2:high'], 'own/alpha-2:high'],
    ['a level suffix that only some models have', ['--model', 'beta-20250101:xhigh'], 'own/beta-20250101:xhigh'],
    ['a level suffix that the model lacks', ['--model', 'beta-latest:low'], 'own/beta-latest:medium'],
    ['a level suffix for a model without thinking', ['--model', 'own/alpha-1:high'], 'own/alpha-1:off'],
    ['a level suffix that --thinking overrides', ['--model', 'alpha-2:high', '--thinking', 'low'], 'own/alpha-2:low'],
  ])('%s', async (_what, args, expected) => {
    const { peer, process } = await openTestAgent('stdio', { home: user(), args });

    expect(await chosen(peer)).toBe(expected);
    expect(process?.stderr()).toBe('');
  });

  it('an id that a provider lacks, with a warning', async () => {
    const double = await ProviderDouble.start(completions);
    const agent = await openTestAgent('stdio', { home: user({}, double.url), args: ['--model', 'own/gamma:high'] });
    double.respondWith({ text: 'Tried.' });

    await agent.peer.run('hi');

    expect(await chosen(agent.peer)).toBe('own/gamma:high');
    expect((await double.request(0)).body).toMatchObject({ model: 'gamma' });
    expect(agent.process?.stderr()).toBe('tau: Model "gamma" not found for provider "own". Using custom model id.\n');
  });

  it.each([
    ['an unknown model', ['--model', 'omega'], 'Model "omega" not found. Use --list-models to see available models.'],
    ['an invalid level', ['--model', 'alpha-2:loud'], 'Model "alpha-2:loud" not found.'],
    ['an unknown provider', ['--provider', 'none', '--model', 'm'], 'Unknown provider "none". Use --list-models'],
  ])('but not %s', async (_what, args, words) => {
    const { code, stdout, stderr } = await runTau(user(), ['--mode', 'rpc', ...args], { input: '' });

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`tau: ${words}`);
  });
});

verifies(
  'L7',
  'with --models only those models are cycled, in their order and with their levels',
  async ({ open: openIt }) => {
    const { peer } = await openIt({ home: user(), args: ['--models', 'own/alpha-2:low, two/*, beta-latest'] });

    const begun = await chosen(peer);
    const steps = [];
    for (let turn = 0; turn < 3; turn++) steps.push(await peer.ok({ type: 'cycle_model' }));

    expect(begun).toBe('own/alpha-2:low');
    expect(steps).toMatchObject([
      { model: { provider: 'two', id: 'alpha-1' }, thinkingLevel: 'off', isScoped: true },
      { model: { provider: 'own', id: 'beta-latest' }, isScoped: true },
      { model: { provider: 'own', id: 'alpha-2' }, thinkingLevel: 'low', isScoped: true },
    ]);
    expect((await peer.ok({ type: 'get_available_models' })).models).toHaveLength(5);
  },
);

describe('the cycled models', () => {
  it('are those of enabledModels, starting with the default model if it is among them', async () => {
    const home = user({ enabledModels: ['own/alpha-*', 'omega'], defaultProvider: 'own', defaultModel: 'alpha-2' });
    const { peer, process } = await openTestAgent('stdio', { home });

    expect(await chosen(peer)).toBe('own/alpha-2:medium');
    expect(await peer.ok({ type: 'cycle_model' })).toMatchObject({ model: { id: 'alpha-1' }, isScoped: true });
    expect(process?.stderr()).toBe('tau: No models match pattern "omega".\n');
  });

  it('do not include a default model that is not among them', async () => {
    const home = user({ enabledModels: ['own/alpha-1', 'two/*'], defaultProvider: 'own', defaultModel: 'alpha-2' });
    const { peer } = await openTestAgent('stdio', { home });

    expect(await chosen(peer)).toBe('own/alpha-1:off');
  });

  it('are those of --models rather than enabledModels, without an invalid level', async () => {
    const home = user({ enabledModels: ['own/alpha-1'] });
    const { peer, process } = await openTestAgent('stdio', { home, args: ['--models', 'beta-latest:loud,two/*'] });

    expect(await peer.ok({ type: 'cycle_model' })).toMatchObject({ model: { provider: 'two' }, isScoped: true });
    expect(process?.stderr()).toBe(
      'tau: Invalid thinking level "loud" in pattern "beta-latest:loud". Using default instead.\n',
    );
  });

  it('are all usable models by default, and never the scripted ones', async () => {
    const { peer } = await openTestAgent('stdio', { home: user(), args: ['--models', '*'] });
    const all = await openTestAgent('stdio', { home: user() });

    const scoped = [];
    for (let turn = 0; turn < 5; turn++) scoped.push((await peer.ok({ type: 'cycle_model' })).model.id);
    const step = await all.peer.ok({ type: 'cycle_model' });

    expect(new Set(scoped)).toEqual(new Set(models.map(({ id }) => id)));
    expect(step).toMatchObject({ isScoped: false });
  });
});

verifies(
  'L20',
  'scripted models are listed when no other is usable, when one is named, or on request',
  async ({ open: openIt }) => {
    const providers = async (peer: Peer, options = {}) => {
      const { models: listed } = await peer.ok({ type: 'get_available_models', ...options });
      return [...new Set(listed.map(({ provider }: { provider: string }) => provider))];
    };
    const without = await openIt();
    const configured = await openIt({ home: user() });
    const named = await openIt({ home: user(), args: ['--model', 'tau/scripted-small'] });

    expect(await providers(without.peer)).toEqual(['tau']);
    expect(await providers(configured.peer)).toEqual(['own', 'two']);
    expect(await providers(configured.peer, { builtins: true })).toEqual(['own', 'two', 'tau']);
    expect(await providers(named.peer)).toEqual(['own', 'two', 'tau']);
    await configured.peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted' });
    expect(await providers(configured.peer)).toEqual(['own', 'two', 'tau']);
  },
);

const noKeyError =
  /^No API key found for anthropic\. Set ANTHROPIC_API_KEY, or add .* to .*auth\.json\.(?: \(defaultModel in settings\.json\))?$/;

verifies('L19', 'a named model without a key is reported missing, wherever it is named', async ({ open: openIt }) => {
  const settings = { defaultProvider: 'anthropic', defaultModel: 'claude-opus-5-5' };
  const kept = user();
  const change = entry('model_change', '11111111', 'bbbbbbbb', { provider: 'anthropic', modelId: 'claude-opus-5-5' });
  const session = storeSession(kept, [...shortConversation(kept.cwd), change]);
  const cases = [
    { home: user(), args: ['--model', 'anthropic/claude-opus-5-5'] },
    { home: user(settings) },
    { home: kept, args: ['--session', session] },
  ];

  for (const options of cases) {
    const agent = await openIt(options);
    const refusal = await agent.peer.refused({ type: 'prompt', message: 'hi' });
    const state = await agent.peer.ok({ type: 'get_state' });

    expect(refusal).toMatchObject({ code: 'model_not_found', error: expect.stringMatching(noKeyError) });
    expect(state).toMatchObject({ model: null, modelFallbackMessage: expect.stringMatching(noKeyError) });
    await agent.peer.ok({ type: 'set_model', provider: 'own', modelId: 'alpha-1' });
    expect(await agent.peer.ok({ type: 'get_state' })).not.toHaveProperty('modelFallbackMessage');
  }
});

verifies('L19', 'set_model with a model without a key keeps the current one', async ({ open: openIt }) => {
  const { peer } = await openIt({ home: user(), args: ['--model', 'own/alpha-2'] });

  const refusal = await peer.refused({ type: 'set_model', provider: 'anthropic', modelId: 'claude-opus-5-5' });

  expect(refusal).toMatchObject({ code: 'model_not_found', error: expect.stringMatching(noKeyError) });
  expect(await chosen(peer)).toBe('own/alpha-2:medium');
});

it('[L19] a missing local server is reported by name, even with --offline', async () => {
  const settings = { defaultProvider: 'ollama', defaultModel: 'nobody-has-this' };
  const { peer } = await openTestAgent('stdio', { home: user(settings), args: ['--offline'] });

  const refusal = await peer.refused({ type: 'prompt', message: 'hi' });

  expect(refusal['error']).toMatch(/^Model not found: ollama\/nobody-has-this\. No server on this machine has it/);
});

describe('on a change of model the thinking level', () => {
  it('becomes one that the model has, and the default after a model without thinking', async () => {
    const { peer } = await openTestAgent('stdio', {
      home: user({ defaultThinkingLevel: 'high' }),
      args: ['--model', 'alpha-2:low'],
    });
    const set = (modelId: string) => peer.ok({ type: 'set_model', provider: 'own', modelId });

    const levels = [await chosen(peer)];
    for (const id of ['beta-latest', 'alpha-1', 'alpha-2']) {
      await set(id);
      levels.push(await chosen(peer));
    }
    await peer.ok({ type: 'set_model', provider: 'own', modelId: 'beta-20250101' });
    await peer.ok({ type: 'set_thinking_level', level: 'max' });

    expect(levels).toEqual(['own/alpha-2:low', 'own/beta-latest:medium', 'own/alpha-1:off', 'own/alpha-2:high']);
    expect(await chosen(peer)).toBe('own/beta-20250101:xhigh');
    expect(await peer.ok({ type: 'get_available_thinking_levels' })).toEqual({
      levels: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    });
  });

  it('is stored with the session', async () => {
    const double = await ProviderDouble.start(completions);
    const home = user({}, double.url);
    double.respondWith({ text: 'one' });
    const first = await openTestAgent('stdio', { home, args: ['--model', 'alpha-2:low'] });
    await first.peer.run('hi');
    await first.peer.ok({ type: 'set_model', provider: 'own', modelId: 'beta-20250101' });
    await first.peer.ok({ type: 'set_thinking_level', level: 'xhigh' });
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    await first.close();

    const again = await openTestAgent('stdio', { home, args: ['--session', sessionFile] });

    expect(await chosen(again.peer)).toBe('own/beta-20250101:xhigh');
    expect(readSessionFile(sessionFile).filter(({ type }) => type === 'model_change')).toHaveLength(2);
  });
});

describe('[L29] a changed model, level or mode', () => {
  const settings = { theme: 'dark', compaction: { reserveTokens: 5 }, retry: { enabled: false } };

  it('stays with the session unless persist is set', async () => {
    const home = user(settings);
    const before = agentFileText(home, 'settings.json');
    const { peer } = await openTestAgent('stdio', { home });

    await peer.ok({ type: 'set_model', provider: 'own', modelId: 'alpha-2' });
    await peer.ok({ type: 'set_thinking_level', level: 'low' });
    await peer.ok({ type: 'cycle_model' });
    await peer.ok({ type: 'cycle_thinking_level' });
    await peer.ok({ type: 'set_auto_retry', enabled: true });
    await peer.ok({ type: 'set_auto_compaction', enabled: false });
    await peer.ok({ type: 'set_steering_mode', mode: 'all' });
    await peer.ok({ type: 'set_follow_up_mode', mode: 'all' });
    await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });

    expect(agentFileText(home, 'settings.json')).toBe(before);
  });

  it('is merged into settings.json with persist and applies to the next process', async () => {
    const home = user(settings);
    const { peer } = await openTestAgent('stdio', { home });

    await peer.ok({ type: 'set_model', provider: 'own', modelId: 'alpha-2', persist: true });
    await peer.ok({ type: 'set_thinking_level', level: 'low', persist: true });
    await peer.ok({ type: 'set_auto_compaction', enabled: false, persist: true });
    await peer.ok({ type: 'set_auto_retry', enabled: true, persist: true });
    await peer.ok({ type: 'set_steering_mode', mode: 'all', persist: true });
    await peer.ok({ type: 'set_follow_up_mode', mode: 'all', persist: true });
    await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate', persist: true });
    const next = await openTestAgent('stdio', { home });

    expect(JSON.parse(agentFileText(home, 'settings.json'))).toEqual({
      ...settings,
      compaction: { reserveTokens: 5, enabled: false },
      retry: { enabled: true },
      steeringMode: 'all',
      followUpMode: 'all',
      interruptMode: 'immediate',
      defaultProvider: 'own',
      defaultModel: 'alpha-2',
      defaultThinkingLevel: 'low',
    });
    expect(await chosen(next.peer)).toBe('own/alpha-2:low');
    expect(await next.peer.ok({ type: 'get_state' })).toMatchObject({
      autoCompactionEnabled: false,
      steeringMode: 'all',
      followUpMode: 'all',
      interruptMode: 'immediate',
    });
  });

  it('is never written into an invalid settings.json', async () => {
    const home = homeWithFiles({
      settings: '{"theme": "dark",',
      models: { providers: { own: providerConfig('http://127.0.0.1:1', { models }) } },
    });
    const { peer } = await openTestAgent('stdio', { home });
    const before = await peer.ok({ type: 'get_state' });

    const refusals = [
      await peer.refused({ type: 'set_model', provider: 'own', modelId: 'alpha-1', persist: true }),
      await peer.refused({ type: 'set_thinking_level', level: 'low', persist: true }),
    ];

    for (const { error } of refusals) expect(error).toMatch(/^settings\.json: .*; it is left as it is$/);
    expect(agentFileText(home, 'settings.json')).toBe('{"theme": "dark",');
    expect(await peer.ok({ type: 'get_state' })).toEqual(before);
  });
});

describe('[L31] --list-models', () => {
  const rows = (text: string) =>
    text
      .split('\n\n')[0]
      ?.split('\n')
      .slice(1)
      .map((line) => line.split(/\s+/).slice(0, 2).join('/'));

  it('lists usable models, or those that match a search', async () => {
    const home = user();
    const list = (...words: string[]) => runTau(home, ['--offline', '--list-models', ...words], { input: '' });

    const [all, some, none] = [await list(), await list('beta', 'late'), await list('omega')];

    expect([all, some, none].map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    expect(rows(all.stdout)).toEqual([...models.map(({ id }) => `own/${id}`), 'two/alpha-1']);
    expect(rows(some.stdout)).toEqual(['own/beta-latest']);
    expect(none.stdout).toContain('No model matches "omega"');
  });

  it('[Z86] names the columns as pi does, each as one word', async () => {
    const { stdout } = await runTau(user(), ['--offline', '--list-models'], { input: '' });

    const [titles = [], cells = []] = stdout.split('\n').map((line) => line.split(/\s+/));
    expect(titles).toEqual(['provider', 'model', 'context', 'max-out', 'thinking', 'images', '$/m-in', '$/m-out']);
    expect(cells).toHaveLength(titles.length);
  });

  it('lists the scripted models when no other is usable, and reports invalid files', async () => {
    const { code, stdout, stderr } = await runTau(homeWithFiles({ models: '{' }), ['--offline', '--list-models'], {
      input: '',
    });

    expect(code).toBe(0);
    expect(stdout).toContain('scripted-small');
    expect(stderr).toMatch(/^tau: models\.json: .*JSON.*\n$/);
  });
});

it('--models with --api-key gives the key to the provider of the first model', async () => {
  const double = await ProviderDouble.start(completions);
  const home = homeWithFiles({
    models: {
      providers: { own: providerConfig(double.url, { apiKey: '$NOT_SET' }), two: providerConfig('http://127.0.0.1:1') },
    },
  });
  const { peer } = await openTestAgent('stdio', { home, args: ['--models', 'own/*,two/*', '--api-key', 'sk-mine'] });
  double.respondWith({ text: 'Let in.' });

  await peer.run('hi');

  expect(assistantTexts(peer.records)).toEqual(['Let in.']);
  expect((await double.request(0)).headers.authorization).toBe('Bearer sk-mine');
});

it('[L24] with a script the scripted model is used, even if others are usable', async () => {
  const { peer } = await openTestAgent('stdio', { home: user(), script: [{ text: 'From the script.' }] });
  const real = await openTestAgent('stdio', { home: user(), script: [], args: ['--model', 'own/alpha-1'] });

  await peer.run('hi');

  expect(assistantTexts(peer.records)).toEqual(['From the script.']);
  expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('modelFallbackMessage');
  expect(await chosen(real.peer)).toBe('own/alpha-1:off');
});
