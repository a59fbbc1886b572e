import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  AuthStorage,
  ModelRegistry,
  ModelRuntime,
  resolveCliModel,
  resolveModelScopeWithDiagnostics,
  SessionManager,
  SettingsManager,
} from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { environment, newHome, writeSettings, writeUserFile } from '../../support/agent/test-agent.ts';

const readSettingsFile = (agentDir: string) => JSON.parse(readFileSync(join(agentDir, 'settings.json'), 'utf8'));

it('[X94] a settings manager merges user and project, writes in the background and keeps unknown keys', async () => {
  const home = newHome();
  writeSettings(home, { theme: 'dark', mine: { a: 1 }, retry: { maxRetries: 7, provider: { timeoutMs: 5 } } });
  mkdirSync(join(home.cwd, '.pi'));
  writeFileSync(join(home.cwd, '.pi', 'settings.json'), JSON.stringify({ retry: { enabled: false } }));

  const untrusted = SettingsManager.create(home.cwd, home.agentDir);
  const manager = SettingsManager.create(home.cwd, home.agentDir, { projectTrusted: true });
  manager.setDefaultModelAndProvider('tau', 'scripted');
  manager.setImageAutoResize(false);
  manager.setModelThinkingLevel('tau', 'scripted', 'high');
  manager.setProjectSkillPaths(['skills']);
  manager.setTheme(undefined);
  await manager.flush();

  expect(untrusted.getRetryEnabled()).toBe(true);
  expect(() => untrusted.setProjectSkillPaths([])).toThrow('not trusted');
  expect(manager.getRetrySettings()).toMatchObject({ enabled: false, maxRetries: 7 });
  expect(manager.getProviderRetrySettings()).toMatchObject({ timeoutMs: 5 });
  expect([manager.getSteeringMode(), manager.getImageAutoResize(), manager.getTheme()]).toEqual([
    'one-at-a-time',
    false,
    undefined,
  ]);
  expect(readSettingsFile(home.agentDir)).toEqual({
    mine: { a: 1 },
    retry: { maxRetries: 7, provider: { timeoutMs: 5 } },
    defaultProvider: 'tau',
    defaultModel: 'scripted',
    images: { autoResize: false },
    modelThinkingLevels: { 'tau/scripted': 'high' },
  });
  await untrusted.reload();
  expect(untrusted.getModelThinkingLevel('tau', 'scripted')).toBe('high');
});

it('[X94] settings in memory and in a storage of the program are never files; a malformed file is an error', async () => {
  const home = newHome();
  writeUserFile(home, 'settings.json', '{');
  let stored = '{"quietStartup":true}';
  const fromStorage = SettingsManager.fromStorage({
    withLock: (scope, fn) => {
      if (scope === 'global') stored = fn(stored) ?? stored;
    },
  });
  const memory = SettingsManager.inMemory({
    compaction: { enabled: false, modelOverrides: { 'a/b': { reserveTokens: 9 } } },
  });
  const broken = SettingsManager.create(home.cwd, home.agentDir);

  fromStorage.setQuietStartup(false);
  memory.applyOverrides({ compaction: { keepRecentTokens: 5 } });
  await fromStorage.flush();

  expect(JSON.parse(stored)).toEqual({ quietStartup: false });
  expect(memory.getCompactionSettings({ provider: 'a', id: 'b' })).toEqual({
    enabled: false,
    reserveTokens: 9,
    keepRecentTokens: 5,
  });
  expect(broken.drainErrors()).toMatchObject([{ scope: 'global', path: join(home.agentDir, 'settings.json') }]);
  expect(broken.drainErrors()).toEqual([]);
});

it('[X94] an agent uses the settings manager that it is given, and both change together', async () => {
  const settingsManager = SettingsManager.inMemory({
    steeringMode: 'all',
    retry: { enabled: false },
    shellCommandPrefix: 'X=from-settings',
  });
  const { session } = await createTestSession({ settingsManager });

  const { output } = await session.executeBash('echo $X');
  session.setFollowUpMode('all');
  settingsManager.setRetryEnabled(true);

  expect([session.settingsManager, output]).toEqual([settingsManager, 'from-settings\n']);
  expect([session.steeringMode, settingsManager.getFollowUpMode(), session.autoRetryEnabled]).toEqual([
    'all',
    'all',
    true,
  ]);
});

it('[X94] an agent applies reloaded settings, overrides and the trust of a project', async () => {
  let stored = '{}';
  const settingsManager = SettingsManager.fromStorage({
    withLock: (scope, fn) => {
      if (scope === 'global') stored = fn(stored) ?? stored;
      else fn('{"steeringMode":"all"}');
    },
  });
  const { session } = await createTestSession({ settingsManager });
  expect(session.steeringMode).toBe('all');

  settingsManager.setProjectTrusted(false);
  expect(session.steeringMode).toBe('one-at-a-time');
  settingsManager.applyOverrides({ retry: { enabled: false } });
  expect(session.autoRetryEnabled).toBe(false);
  stored = '{"followUpMode":"all"}';
  await settingsManager.reload();
  expect(session.followUpMode).toBe('all');
});

it('[X94] an agent ignores invalid settings of a manager', async () => {
  const settingsManager = SettingsManager.inMemory({ steeringMode: 'bogus', compaction: { enabled: 'no' } });
  const { session } = await createTestSession({ settingsManager });

  settingsManager.applyOverrides({ followUpMode: 5, retry: { enabled: 'maybe' } });

  expect([session.steeringMode, session.followUpMode]).toEqual(['one-at-a-time', 'one-at-a-time']);
  expect([session.autoCompactionEnabled, session.autoRetryEnabled]).toEqual([true, true]);
});

it('[X94] settings of a program that throw leave no session open', async () => {
  const home = newHome();
  const stored = SessionManager.create(home.cwd, home.root);
  stored.appendCustomEntry('mine');
  const sessionManager = SessionManager.open(stored.getSessionFile() ?? '');
  const settingsManager = {
    getRetryEnabled: () => {
      throw new Error('no settings');
    },
  };

  await expect(createTestSession({ sessionManager, settingsManager }, home)).rejects.toThrow('no settings');

  expect(() => stored.appendCustomEntry('mine')).not.toThrow();
});

it('[X94] a setting is written as it was set, whatever the caller and the listeners do', async () => {
  let stored = '{}';
  const manager = SettingsManager.fromStorage({
    withLock: (scope, fn) => {
      if (scope === 'global') stored = fn(stored) ?? stored;
    },
  });
  const paths = ['skills'];
  let isFirst = true;
  manager.onChange(() => {
    if (!isFirst) return;
    isFirst = false;
    manager.setSkillPaths(['by a listener']);
    throw new Error('of a listener');
  });

  expect(() => manager.setSkillPaths(paths)).toThrow('of a listener');
  await manager.flush();
  expect(JSON.parse(stored)).toEqual({ skills: ['by a listener'] });
  manager.setSkillPaths(paths);
  paths.push('later');
  await manager.flush();

  expect(JSON.parse(stored)).toEqual({ skills: ['skills'] });
});

it('[X95] a model runtime lists models and keys without an agent, and an agent shares them', async () => {
  const home = newHome();
  writeUserFile(home, 'auth.json', JSON.stringify({ openai: { type: 'api_key', key: 'stored-key' } }));
  const runtime = await ModelRuntime.create({ authPath: join(home.agentDir, 'auth.json') });
  await runtime.setRuntimeApiKey('anthropic', 'runtime-key');
  runtime.registerProvider('mine', {
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'k',
    api: 'openai-completions',
    models: [
      {
        id: 'm1',
        name: 'M1',
        reasoning: false,
        input: ['text'],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 1000,
        maxTokens: 100,
      },
    ],
  });

  expect(runtime.getProviderAuthStatus('openai')).toMatchObject({ configured: true, source: 'stored' });
  expect(runtime.getProviderAuthStatus('anthropic')).toMatchObject({ configured: true, source: 'runtime' });
  expect(await runtime.getAuth('anthropic')).toMatchObject({ auth: { apiKey: 'runtime-key' } });
  expect(await runtime.listCredentials()).toEqual([{ providerId: 'openai', type: 'api_key' }]);
  expect(runtime.getProviders().find(({ id }) => id === 'openai')).toMatchObject({ name: 'OpenAI' });
  expect([runtime.hasConfiguredAuth('google'), runtime.isUsingOAuth('openai')]).toEqual([false, false]);
  expect(resolveCliModel({ cliModel: 'mine/m1:high', modelRuntime: runtime })).toMatchObject({
    model: { id: 'm1' },
    thinkingLevel: 'high',
  });
  expect(resolveCliModel({ cliModel: 'nowhere', modelRuntime: runtime }).error).toContain('not found');
  expect(await resolveModelScopeWithDiagnostics(['mine/*', 'none'], runtime)).toMatchObject({
    scopedModels: [{ model: { id: 'm1' } }],
    diagnostics: [{ type: 'warning' }],
  });
  const { session } = await createTestSession({ modelRuntime: runtime, model: { provider: 'mine', id: 'm1' } }, home);
  expect([session.model?.id, session.modelRuntime.getModel('mine', 'm1')?.name]).toEqual(['m1', 'M1']);
  await runtime.removeRuntimeApiKey('anthropic');
  expect(runtime.hasConfiguredAuth('anthropic')).toBe(false);
});

it('[X95] an auth storage and a model registry of older programs are honoured; foreign ones are rejected', async () => {
  const home = newHome();
  const authStorage = AuthStorage.inMemory({ openai: { type: 'api_key', key: 'in-memory' } });
  authStorage.setRuntimeApiKey('anthropic', 'at-runtime');
  const modelRegistry = ModelRegistry.create(authStorage, join(home.agentDir, 'models.json'));

  const { session } = await createTestSession(
    { authStorage, modelRegistry, model: { provider: 'anthropic', id: 'claude-sonnet-4-5' } },
    home,
  );

  expect(session.model?.provider).toBe('anthropic');
  expect(await modelRegistry.getApiKeyForProvider('openai')).toBe('in-memory');
  expect([await authStorage.getApiKey('anthropic'), authStorage.has('openai'), authStorage.list()]).toEqual([
    'at-runtime',
    true,
    ['openai'],
  ]);
  expect(modelRegistry.getAll().length).toBeGreaterThan(modelRegistry.getAvailable().length);
  expect(() => modelRegistry.authStorage).toThrow('does not exist any more');
  await expect(authStorage.login('openai')).rejects.toThrow('AuthStorage.login');
  await expect(createTestSession({ modelRegistry: {} }, home)).rejects.toThrow('modelRegistry must be one of');
  await expect(ModelRuntime.create({ authPath: '/keys.json' })).rejects.toThrow('auth.json');
});

it('[X95] an agent with an auth storage finds the keys of its own environment', async () => {
  const home = newHome();
  const env = { ...environment(home), ANTHROPIC_API_KEY: 'key-of-this-test' };

  const { session } = await createTestSession(
    { authStorage: AuthStorage.inMemory(), env, model: 'anthropic/claude-sonnet-4-5' },
    home,
  );

  expect(await session.modelRuntime.getAuth('anthropic')).toMatchObject({ auth: { apiKey: 'key-of-this-test' } });
});

it('[X95] an auth storage in memory answers without the files of the user', async () => {
  const home = newHome();
  writeUserFile(home, 'auth.json', JSON.stringify({ groq: { type: 'api_key', key: 'of-the-user' } }));
  vi.stubEnv('PI_CODING_AGENT_DIR', home.agentDir);
  vi.stubEnv('GROQ_API_KEY', undefined);
  vi.stubEnv('MISTRAL_API_KEY', 'of-the-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  const storage = AuthStorage.inMemory({ openai: { type: 'api_key', key: 'in-memory' } });

  expect([await storage.getApiKey('groq'), storage.hasAuth('groq')]).toEqual([undefined, false]);
  expect([await storage.getApiKey('openai'), storage.hasAuth('openai')]).toEqual(['in-memory', true]);
  expect([await storage.getApiKey('mistral'), storage.hasAuth('mistral')]).toEqual(['of-the-environment', true]);
  storage.setFallbackResolver(() => 'fallback');
  expect([await storage.getApiKey('groq'), storage.hasAuth('groq')]).toEqual(['fallback', true]);
  expect(await AuthStorage.create().getApiKey('groq')).toBe('of-the-user');
});

it('[X102] the model registry and the model runtime have every member of pi, or name the one that tau lacks', async () => {
  const { agentDir } = newHome();
  const runtime = await ModelRuntime.create({ authPath: join(agentDir, 'auth.json') });
  const registry = new ModelRegistry(runtime);
  await runtime.setRuntimeApiKey('openai', 'the key');
  const streamSimple = () => undefined;
  runtime.registerProvider('mine', { api: 'mine', apiKey: 'k', baseUrl: 'http://mine.test', streamSimple, models: [] });
  registry.registerVirtualModel({
    provider: 'router',
    id: 'best',
    route: () => ({ model: { provider: 'tau', id: 'scripted' }, thinkingLevel: 'off' }),
  });

  for (const models of [registry, runtime]) {
    expect(models.getRegisteredProviderConfig('mine')).toMatchObject({ apiKey: 'k', streamSimple });
    expect(models.getRegisteredProviderConfig('openai')).toBeUndefined();
    expect(models.getRegisteredNativeProvider('mine')).toBeUndefined();
    expect(models.getModelOfType('chat', 'tau', 'scripted')).toMatchObject({ id: 'scripted' });
    expect(models.getModelOfType('image', 'tau', 'scripted')).toBeUndefined();
    expect(models.getModelsOfType('chat', 'router').map(({ id }) => id)).toEqual(['best']);
    expect([models.getModelsOfType('classifier'), await models.getAvailableOfType('image')]).toEqual([[], []]);
    expect((await models.getAvailableOfType('chat', 'openai')).length).toBeGreaterThan(0);
    for (const name of ['classify', 'generateImages', 'streamDeferred'] as const)
      expect(() => models[name]({}, {})).toThrow(name);
  }
  expect(registry.findOfType('chat', 'tau', 'scripted')).toMatchObject({ id: 'scripted' });
  expect(await registry.getProviderAuth('openai')).toMatchObject({ auth: { apiKey: 'the key' } });
  expect(runtime.getAllModels('router').map(({ id }) => id)).toEqual(['best']);
  expect((await runtime.getAllAvailable('openai')).length).toBeGreaterThan(0);
  expect(runtime.getPhysicalModel('router', 'best')).toBeUndefined();
  expect(runtime.getPhysicalModel('tau', 'scripted')).toMatchObject({ id: 'scripted' });
  expect(() => runtime.registerNativeProvider()).toThrow('registerNativeProvider');
  registry.unregisterVirtualModel('router', 'best');
  expect(runtime.getModel('router', 'best')).toBeUndefined();
});
