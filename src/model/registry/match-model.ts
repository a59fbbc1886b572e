import { Refusal } from '../../protocol/errors.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { scriptedModels } from '../scripted/models.ts';
import { isThinkingLevel } from '../thinking-levels.ts';
import type { ModelMatch } from './model-pattern.ts';

// A model as a user names it.
interface NamedModel {
  readonly pattern: string;
  readonly provider?: string | undefined;
}

// The models that a name may mean.
interface Candidates {
  readonly usable: readonly Model[];
  // With or without a key.
  readonly listed: readonly Model[];
  readonly providers: readonly string[];
}

/** Finds the model that a selector means. Prefers usable models: a loose pattern more likely means one of them. */
export async function matchModel(
  { pattern, provider }: NamedModel,
  { usable, listed, providers }: Candidates,
): Promise<ModelMatch & { readonly warning?: string }> {
  const { findByPattern } = await import('./model-pattern.ts');
  const query = { pattern, provider, providers };
  let refusal: Refusal | undefined;
  try {
    const found = findByPattern({ ...query, models: usable });
    if (found.warning === undefined) return found;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refusal = error;
  }
  const found = findByPattern({ ...query, models: listed });
  // A part of a name with an unknown provider: an extension may register that provider later.
  const isPart = pattern.includes('/') && !pattern.startsWith(found.model.id);
  if (refusal && isPart && !providers.includes(provider ?? providerPrefix(pattern))) throw refusal;
  return found;
}

/** The text before the first slash. */
export const providerPrefix = (name: string): string => name.split('/', 1)[0] ?? '';

/** Finds a built-in model by exact name without loading anything. */
export function findScripted({ pattern, provider }: NamedModel): ModelMatch | undefined {
  const [, name = pattern, level] = /^(.+):([a-z]+)$/.exec(pattern) ?? [];
  const fullPattern = provider === undefined || name.startsWith(`${provider}/`) ? name : `${provider}/${name}`;
  const model = scriptedModels.find((one) => fullPattern === one.id || fullPattern === `${one.provider}/${one.id}`);
  if (!model || (level !== undefined && !isThinkingLevel(level))) return undefined;
  return level === undefined ? { model } : { model, thinkingLevel: level };
}
