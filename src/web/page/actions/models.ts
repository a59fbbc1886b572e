import type { Model, Result, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

// `alsoForNew` makes the choice the default of new sessions.
interface ModelChoiceOptions {
  readonly alsoForNew: boolean;
}

/** A provider for which a key can be stored. */
export type KeyProvider = Result<'list_providers'>['providers'][number];

/** Lists the usable models, built-in ones last. */
export async function availableModels({ remote }: LiveSession): Promise<readonly Model[]> {
  const { models } = await remote.getAvailableModels({ builtins: true });
  return models;
}

/** Sets the model for the next model call. */
export const chooseModel = (
  { remote }: LiveSession,
  { provider, id }: Model,
  options: ModelChoiceOptions,
): Promise<unknown> => remote.setModel({ provider, modelId: id, ...persistParam(options) });

/** Lists the thinking levels of the current model. */
export async function thinkingLevels({ remote }: LiveSession): Promise<readonly ThinkingLevel[]> {
  const { levels } = await remote.getAvailableThinkingLevels();
  return levels;
}

/** Sets the thinking level for the next model call. */
export const chooseThinkingLevel = (
  { remote }: LiveSession,
  level: ThinkingLevel,
  options: ModelChoiceOptions,
): Promise<unknown> => remote.setThinkingLevel({ level, ...persistParam(options) });

/** Lists the providers that take a key; only administrators may. */
export async function listKeyProviders({ remote }: LiveSession): Promise<readonly KeyProvider[]> {
  const { providers: all } = await remote.listProviders();
  return all;
}

/** Stores a key on the server; returns the number of models it enables. */
export async function storeKey({ remote }: LiveSession, provider: string, apiKey: string): Promise<number> {
  const { models } = await remote.setCredential({ provider, apiKey });
  return models;
}

/** Removes a stored key; returns the number of models of its provider that stay usable. */
export async function removeKey({ remote }: LiveSession, provider: string): Promise<number> {
  const { models } = await remote.removeCredential({ provider });
  return models;
}

/** The ids of the providers that can be signed in to; only administrators may. */
export async function listSignIns({ remote }: LiveSession): Promise<readonly string[]> {
  const { providers } = await remote.getLoginProviders();
  return providers.filter(({ available }) => available).map(({ id }) => id);
}

/** Signs in to a provider through notices and dialogs of the page; returns the number of models it enables. */
export async function signIn({ remote }: LiveSession, providerId: string): Promise<number> {
  const { models } = await remote.login({ providerId });
  return models;
}

const persistParam = ({ alsoForNew }: ModelChoiceOptions) => (alsoForNew ? { persist: true } : {});
