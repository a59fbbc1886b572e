import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import type { RuntimeKey } from '../../keys/key-lookup.ts';
import { openModels } from '../loaded-models.ts';

/** A model of the catalogue. */
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

export const catalogueModels: Record<string, Model[]> = {
  anthropic: [builtIn('anthropic', 'opus', { api: 'anthropic-messages' }), builtIn('anthropic', 'haiku')],
  openai: [builtIn('openai', 'gpt', { compat: { store: true, routing: { only: ['a'], sort: 'x' } } })],
};

const catalogue = {
  providers: () => Object.keys(catalogueModels),
  models: (provider: string) => catalogueModels[provider] ?? [],
};

/** The files and environment of a user. */
export interface UserFiles {
  readonly models?: unknown;
  readonly auth?: unknown;
  readonly env?: Record<string, string>;
  readonly runtimeKey?: RuntimeKey;
  /** Replaces the limit of a renewal. */
  readonly renewTimeoutMs?: number;
}

/** Opens the models of a user with these files and this environment. */
export function openUserModels({ models, auth: credentials, env = {}, runtimeKey, ...limits }: UserFiles = {}) {
  const agentDir = tempFolder();
  const write = (name: string, content: unknown) => {
    writeFileSync(join(agentDir, name), typeof content === 'string' ? content : JSON.stringify(content));
  };
  if (models !== undefined) write('models.json', { providers: models });
  if (credentials !== undefined) write('auth.json', credentials);
  const { list, auth } = openModels({ agentDir, env: { PATH: process.env['PATH'], ...env }, catalogue, ...limits });
  if (runtimeKey) auth.setRuntimeKey(runtimeKey);
  const model = (provider: string, id: string) => list.find(provider, id) ?? builtIn(provider, id);
  return {
    agentDir,
    write,
    list,
    auth,
    refresh: () => {
      list.refresh();
      auth.refresh();
    },
    keyOf: async (provider: string, id: string) => (await auth.endpoint(model(provider, id))).apiKey,
  };
}

export const modelNames = (models: readonly Model[]) => models.map(({ provider, id }) => `${provider}/${id}`);

export const customProvider = {
  baseUrl: 'http://localhost:1/v1/',
  api: 'openai-completions',
  models: [{ id: 'llama' }],
};
export const storedKey = (text: string) => ({ type: 'api_key', key: text });
