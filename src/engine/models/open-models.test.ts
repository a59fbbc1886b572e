import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AgentClient } from '../../client/agent-client.ts';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { memoryPair } from '../../wire/memory.ts';
import { openEngine } from '../open.ts';
import { Project } from '../project.ts';
import { type ModelOptions, openModels } from './open-models.ts';

const own = { baseUrl: 'http://127.0.0.1:1', api: 'openai-completions', models: [{ id: 'm', reasoning: true }] };

/** Opens the models of a user with these files. */
function openWith({ models, settings, ...more }: Partial<ModelOptions> & { models?: unknown; settings?: object }) {
  const agentDir = tempFolder();
  if (models) writeFileSync(join(agentDir, 'models.json'), JSON.stringify(models));
  if (settings) writeFileSync(join(agentDir, 'settings.json'), JSON.stringify(settings));
  return openModels({ agentDir, env: {}, project: new Project({ cwd: agentDir, agentDir }), offline: true, ...more });
}

it('without any model option no models are loaded', async () => {
  const { registry, requested, warnings } = await openWith({});

  expect([registry.isConfigured, requested, warnings]).toEqual([false, undefined, []]);
});

it('a requested model is resolved with its thinking level', async () => {
  const { requested, thinkingLevel } = await openWith({
    models: { providers: { own } },
    requested: { pattern: 'M:high' },
  });

  expect([requested, thinkingLevel]).toEqual([{ provider: 'own', id: 'm' }, 'high']);
});

it('an unknown model is refused', async () => {
  await expect(openWith({ requested: { pattern: 'nothing-like-it' } })).rejects.toMatchObject({
    code: 'model_not_found',
  });
});

it.each<[string, Partial<ModelOptions> & { settings?: object }, boolean]>([
  ['a file was named', { addons: { extensions: ['a.ts'] } }, true],
  ['a file was named and no other counts', { addons: { extensions: ['a.ts'], findExtensions: false } }, true],
  ['the settings name one', { addons: {}, settings: { extensions: ['a.ts'] } }, true],
  ['the settings name a package', { addons: {}, settings: { packages: ['npm:a'] } }, true],
  ['those of the settings do not count', { addons: { findExtensions: false }, settings: { extensions: ['a'] } }, false],
  ['there are only skills', { addons: { skills: ['a'] } }, false],
  ['nothing is added', { settings: { extensions: ['a.ts'] } }, false],
])('[L35] an unknown model may still come from an extension where %s: %#', async (_where, options, mayCome) => {
  const models = await openWith({ requested: { pattern: 'acme/x' }, ...options }).catch(({ code }) => code);

  if (mayCome) {
    expect(models).toMatchObject({
      requested: undefined,
      unresolved: { notice: expect.stringContaining('"acme/x" not found') },
    });
  } else expect(models).toBe('model_not_found');
});

it('the provider of the settings is loaded, so that its model can be reported missing by name', async () => {
  const { registry } = await openWith({ settings: { defaultProvider: 'openai', defaultModel: 'x' } });

  expect(registry.unavailableReason('openai', 'x')).toContain('Set OPENAI_API_KEY');
});

it('warnings are ordered: files, model, patterns', async () => {
  const { registry, warnings } = await openWith({
    models: { providers: { own, bad: 3 } },
    requested: { pattern: 'own/other' },
    patterns: ['own/m', 'nothing-like-it'],
    settings: { enabledModels: ['*'] },
  });

  expect(registry.scope).toMatchObject([{ model: { id: 'm' } }]);
  expect(warnings).toEqual([
    'models.json: providers.bad must be an object',
    'Model "other" not found for provider "own". Using custom model id.',
    'No models match pattern "nothing-like-it".',
  ]);
});

it('packages load from the working folder only while it is trusted', async () => {
  const agentDir = tempFolder();
  const project = new Project({ cwd: agentDir, agentDir, trust: true });
  const models = await openModels({ agentDir, env: {}, project, offline: true });
  const first = { kind: 'memory' } as const;
  const engine = await openEngine({
    cwd: agentDir,
    agentDir,
    env: {},
    sessionDirectory: () => agentDir,
    first,
    project,
    models,
  });
  onTestFinished(() => engine.close());
  const [inside, outside] = memoryPair();
  const client = new AgentClient(outside);
  onTestFinished(() => client.close());
  engine.connect(inside);

  const before = models.registry.folderOptions.trustedFolder;
  await client.setTrust({ trusted: false, remember: false });

  expect([before, models.registry.folderOptions.trustedFolder]).toEqual([agentDir, undefined]);
});
