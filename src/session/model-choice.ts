import type { ModelRegistry } from '../model/registry.ts';
import { isLevel, nearestLevel, nextLevel } from '../model/thinking.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';

/** Which model a session uses, and how much it thinks. */
export interface Choice {
  readonly model: Model | null;
  readonly thinkingLevel: ThinkingLevel;
  /** Why the model is another one than was asked for, or none. */
  readonly notice?: string | undefined;
}

/** A model by the names that flags, settings and sessions use. */
export interface ModelName {
  readonly provider: string;
  readonly id: string;
}

/**
 * The model that somebody means by `provider/id`, or by an id alone. One of a provider that is unknown here is taken
 * at its word, and missed when it is used.
 */
export function findModel(registry: ModelRegistry, wanted: string, provider?: string): ModelName {
  const known = registry.available();
  const named = split(wanted, provider);
  const match = known.find((model) =>
    named ? model.provider === named.provider && model.id === named.id : model.id === wanted,
  );
  if (match) return { provider: match.provider, id: match.id };
  if (named && !known.some((model) => model.provider === named.provider)) return named;
  const names = known.map((model) => `${model.provider}/${model.id}`);
  throw new Refusal('model_not_found', `Model "${wanted}" not found. Known: ${names.join(', ')}`);
}

function split(wanted: string, provider: string | undefined): ModelName | undefined {
  if (provider !== undefined) {
    return { provider, id: wanted.startsWith(`${provider}/`) ? wanted.slice(provider.length + 1) : wanted };
  }
  const slash = wanted.indexOf('/');
  return slash > 0 ? { provider: wanted.slice(0, slash), id: wanted.slice(slash + 1) } : undefined;
}

/** A model that somebody named is used or missed, never silently replaced. */
export function chooseModel(registry: ModelRegistry, named: ModelName | undefined): Omit<Choice, 'thinkingLevel'> {
  if (!named) {
    return { model: registry.fallback, notice: 'No model is configured: this is the built-in scripted model.' };
  }
  const model = registry.find(named.provider, named.id);
  return model ? { model } : { model: null, notice: missing(registry, named) };
}

const missing = (registry: ModelRegistry, { provider }: ModelName) => {
  const { fallback } = registry;
  return `No API key found for ${provider}. This version has only built-in models, such as ${fallback.provider}/${fallback.id}`;
};

export const clamped = (model: Model | null, level: ThinkingLevel): ThinkingLevel =>
  model ? nearestLevel(model, level) : level;

/** The model after the current one, going round; undefined when there is no other. */
export function nextModel(registry: ModelRegistry, current: Model | null): Model | undefined {
  const models = registry.available();
  if (models.length < 2) return undefined;
  const index = Math.max(
    0,
    models.findIndex((model) => model.provider === current?.provider && model.id === current.id),
  );
  return models[(index + 1) % models.length];
}

/** The thinking level after the current one; undefined for a model that does not think. */
export const nextThinkingLevel = (choice: Choice): ThinkingLevel | undefined =>
  choice.model ? nextLevel(choice.model, choice.thinkingLevel) : undefined;

/** The model, for a run that needs one. */
export function requireModel(choice: Choice): Model {
  if (!choice.model) throw new Refusal('model_not_found', choice.notice ?? 'No model selected');
  return choice.model;
}

/** The model and thinking level that a stored session used last. */
export const storedChoice = (log: SessionLog) => ({ model: storedModel(log), thinkingLevel: storedLevel(log) });

function storedLevel(log: SessionLog): ThinkingLevel | undefined {
  for (const { id } of log.named('thinking_level_change')) {
    const entry = log.entry(id);
    if (entry?.type === 'thinking_level_change' && isLevel(entry.thinkingLevel)) return entry.thinkingLevel;
  }
  return undefined;
}

function storedModel(log: SessionLog): ModelName | undefined {
  const [latest] = log.named('model_change', 'assistant');
  const entry = latest && log.entry(latest.id);
  if (entry?.type === 'model_change') return { provider: entry.provider, id: entry.modelId };
  if (entry?.type !== 'message' || entry.message.role !== 'assistant') return undefined;
  const { provider, model } = entry.message;
  return provider && model ? { provider, id: model } : undefined;
}
