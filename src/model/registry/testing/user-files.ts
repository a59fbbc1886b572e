import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { KnownModels, type KnownModelsOptions } from '../known-models.ts';

/** A model as the catalogue has it. */
export function builtIn(provider: string, id: string, more: Partial<Model> = {}): Model {
  return {
    id,
    name: id.toUpperCase(),
    api: 'openai-completions',
    provider,
    baseUrl: `https://${provider}.test/v1`,
    reasoning: false,
    input: ['text'],
    contextWindow: 1000,
    maxTokens: 100,
    cost: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
    supportsImages: false,
    supportsTools: true,
    thinking: false,
    ...more,
  };
}

/** What is in the catalogue. */
export const catalogueModels: Record<string, Model[]> = {
  anthropic: [builtIn('anthropic', 'opus', { api: 'anthropic-messages' }), builtIn('anthropic', 'haiku')],
  openai: [builtIn('openai', 'gpt', { compat: { store: true, routing: { only: ['a'], sort: 'x' } } })],
};

const catalogue = { providers: () => Object.keys(catalogueModels), models: (provider: string) => catalogueModels[provider] ?? [] };

/** Where a user may say something. */
export interface UserFiles {
  readonly models?: unknown;
  readonly auth?: unknown;
  readonly env?: Record<string, string>;
  readonly runtimeKey?: KnownModelsOptions['runtimeKey'];
}

/** What is known of models to a user with these files and this environment. */
export function openKnownModels({ models, auth, env = {}, runtimeKey }: UserFiles = {}) {
  const agentDir = tempFolder();
  const write = (name: string, content: unknown) => {
    writeFileSync(join(agentDir, name), typeof content === 'string' ? content : JSON.stringify(content));
  };
  if (models !== undefined) write('models.json', { providers: models });
  if (auth !== undefined) write('auth.json', auth);
  const known = new KnownModels({
    agentDir,
    env: { PATH: process.env['PATH'], ...env },
    catalogue,
    runtimeKey,
  });
  const model = (provider: string, id: string) => known.find(provider, id) ?? builtIn(provider, id);
  return {
    agentDir,
    write,
    known,
    keyOf: async (provider: string, id: string) => (await known.endpoint(model(provider, id))).apiKey,
  };
}

/** The names of models, as people write them. */
export const modelNames = (models: readonly Model[]) => models.map(({ provider, id }) => `${provider}/${id}`);

/** A provider of the user's own. */
export const customProvider = { baseUrl: 'http://localhost:1/v1/', api: 'openai-completions', models: [{ id: 'llama' }] };
/** A stored key. */
export const storedKey = (text: string) => ({ type: 'api_key', key: text });
