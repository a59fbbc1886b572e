import type { Model, Result, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Whether something is to count for new sessions too. */
interface ModelChoiceOptions {
  readonly alsoForNew: boolean;
}

/** A provider that a key can be stored for. */
export type KeyProvider = Result<'list_providers'>['providers'][number];

/** Every model that can be used now, the built-in ones last. */
export async function availableModels({ remote }: LiveSession): Promise<readonly Model[]> {
  const { models } = await remote.getAvailableModels({ builtins: true });
  return models;
}

/** Uses another model from the next answer on. */
export const chooseModel = ({ remote }: LiveSession, { provider, id }: Model, options: ModelChoiceOptions): Promise<unknown> =>
  remote.setModel({ provider, modelId: id, ...persistParam(options) });

/** The thinking levels of the model in use. */
export async function thinkingLevels({ remote }: LiveSession): Promise<readonly ThinkingLevel[]> {
  const { levels } = await remote.getAvailableThinkingLevels();
  return levels;
}

/** Lets the model think so much from its next answer on. */
export const chooseThinkingLevel = ({ remote }: LiveSession, level: ThinkingLevel, options: ModelChoiceOptions): Promise<unknown> =>
  remote.setThinkingLevel({ level, ...persistParam(options) });

/** Who takes a key. Only an administrator is told. */
export async function listKeyProviders({ remote }: LiveSession): Promise<readonly KeyProvider[]> {
  const { providers: all } = await remote.listProviders();
  return all;
}

/** Stores a key where the agents find it; answers how many models can be used by it. */
export async function storeKey({ remote }: LiveSession, provider: string, apiKey: string): Promise<number> {
  const { models } = await remote.setCredential({ provider, apiKey });
  return models;
}

/** Removes a key that was stored; answers how many models of its provider can still be used. */
export async function removeKey({ remote }: LiveSession, provider: string): Promise<number> {
  const { models } = await remote.removeCredential({ provider });
  return models;
}

const persistParam = ({ alsoForNew }: ModelChoiceOptions) => (alsoForNew ? { persist: true } : {});
