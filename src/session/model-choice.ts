import type { ModelRegistry, ModelSelector } from '../model/registry/registry.ts';
import { isThinkingLevel, nearestLevel, nextLevel } from '../model/thinking-levels.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';

/** The model and thinking level of a session. */
export interface ModelChoice {
  readonly model: Model | null;
  readonly thinkingLevel: ThinkingLevel;
  /** The virtual model that stands for `model`, for one request. */
  readonly routedFrom?: Model | undefined;
  /** Why the requested model is not used. */
  readonly notice?: string | undefined;
  /** The requested model, if it is not available. */
  readonly unavailable?: ModelName | undefined;
  /** The requested model, if its name matches no known model. */
  readonly unresolved?: UnresolvedModel | undefined;
}

/** A requested model whose name matches no known model yet. */
export interface UnresolvedModel {
  readonly request: ModelSelector;
  readonly notice: string;
  /** The thinking level that was requested with the model. */
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

export interface ModelName {
  readonly provider: string;
  readonly id: string;
}

/** A named model is used or reported as unavailable, never silently replaced. */
export function chooseModel(registry: ModelRegistry, named: ModelName | undefined): Omit<ModelChoice, 'thinkingLevel'> {
  if (!named) return fallbackChoice(registry);
  const model = registry.find(named.provider, named.id);
  return model
    ? { model }
    : { model: null, notice: registry.unavailableReason(named.provider, named.id), unavailable: named };
}

interface InitialChoiceOptions {
  readonly log: SessionLog;
  // The model and level of the command line; they hold for the first session of an agent.
  readonly requested: RequestedModel;
  // The choice of the agent's previous session.
  readonly previous: ModelChoice | undefined;
  readonly settings: Settings;
}

/** The model and thinking level that were requested when the agent was opened. */
export interface RequestedModel {
  readonly model?: ModelName | undefined;
  readonly unresolved?: UnresolvedModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
}

/**
 * The model of a session that is opened. A stored session keeps its model, a new session of a live agent keeps that of
 * the previous one; otherwise `firstModel` decides.
 */
export function initialChoice(registry: ModelRegistry, options: InitialChoiceOptions): ModelChoice {
  const { log, previous, settings } = options;
  const virtual = storedVirtualModel(registry, log);
  const stored = { ...storedChoice(log), ...(virtual ? { model: virtual } : {}) };
  const { model: named, unresolved, thinkingLevel } = previous ? {} : options.requested;
  const kept = previous && !stored.model ? { ...previous, level: previous.thinkingLevel } : undefined;
  const { level, ...choice } = kept ?? firstModel(registry, { named, unresolved, stored: stored.model, settings });
  const configured = levelInSettings(settings, choice.model) ?? settings.defaultThinkingLevel ?? 'medium';
  const requestedLevel = thinkingLevel ?? stored.thinkingLevel ?? level ?? configured;
  return { ...choice, thinkingLevel: clampLevel(choice.model, requestedLevel) };
}

/** The thinking level that the settings give to this model. */
export function levelInSettings({ modelThinkingLevels }: Settings, model: Model | null): ThinkingLevel | undefined {
  const level = model && modelThinkingLevels?.[`${model.provider}/${model.id}`];
  return typeof level === 'string' && isThinkingLevel(level) ? level : undefined;
}

/**
 * Sources of the first model, in order of precedence. A model of the settings outside the scope gives way to the first
 * model in scope. After all: the default model of the first provider with a key, then the scripted model.
 */
export interface FirstModelOptions {
  readonly unresolved?: UnresolvedModel | undefined;
  readonly named?: ModelName | undefined;
  readonly stored?: ModelName | undefined;
  readonly settings: Pick<Settings, 'defaultProvider' | 'defaultModel'>;
}

/** Chooses the first model, with its thinking level if the scope sets one. */
export function firstModel(registry: ModelRegistry, { unresolved, named, stored, settings }: FirstModelOptions) {
  if (unresolved) return { model: null, notice: unresolved.notice, unresolved, level: undefined };
  const { defaultProvider: provider, defaultModel: id } = settings;
  const configured = provider && id ? { provider, id } : undefined;
  const requested = named ?? stored;
  const scoped = requested ? undefined : scopedChoice(registry.scope, configured);
  const choice = chooseModel(registry, requested ?? scoped?.name ?? configured);
  // Only the settings can have named the missing model.
  const isFromSettings = !choice.model && !requested && !scoped;
  const notice = isFromSettings ? `${choice.notice} (defaultModel in settings.json)` : choice.notice;
  return { ...choice, notice, level: scoped?.thinkingLevel };
}

function fallbackChoice(registry: ModelRegistry): Omit<ModelChoice, 'thinkingLevel'> {
  const model = registry.fallback;
  if (model.provider !== 'tau' || registry.available().some(({ provider }) => provider !== 'tau')) return { model };
  return { model, notice: 'No model is configured: this is the built-in scripted model.' };
}

/** The configured model if it is in scope, else the first model in scope. */
function scopedChoice(scope: ModelRegistry['scope'], configured: ModelName | undefined) {
  const choice =
    scope?.find(({ model }) => model.provider === configured?.provider && model.id === configured.id) ?? scope?.[0];
  if (!choice) return undefined;
  const { model, thinkingLevel } = choice;
  return { name: { provider: model.provider, id: model.id }, thinkingLevel };
}

export const clampLevel = (model: Model | null, level: ThinkingLevel): ThinkingLevel =>
  model ? nearestLevel(model, level) : level;

/** Direction in which models are cycled. */
export type CycleDirection = 'forward' | 'backward';

/** The model after or before the current one, cyclic, within the scope; undefined when there is no other. */
export function nextModel(
  registry: ModelRegistry,
  current: Model | null,
  direction: CycleDirection = 'forward',
): NextModel | undefined {
  const isScoped = registry.scope !== undefined;
  const choices: readonly Omit<NextModel, 'isScoped'>[] =
    registry.scope ?? registry.available({ scripted: current?.provider === 'tau' }).map((model) => ({ model }));
  if (choices.length < 2) return undefined;
  const index = choices.findIndex(({ model }) => model.provider === current?.provider && model.id === current.id);
  const next = choices.at((Math.max(0, index) + (direction === 'forward' ? 1 : -1)) % choices.length);
  return next && { ...next, isScoped };
}

/** The next model of a cycle. */
export interface NextModel {
  readonly model: Model;
  /** Set if the scope defines one. */
  readonly thinkingLevel?: ThinkingLevel;
  readonly isScoped: boolean;
}

/** The thinking level after the current one; undefined for a model that does not think. */
export const nextThinkingLevel = (choice: ModelChoice): ThinkingLevel | undefined =>
  choice.model ? nextLevel(choice.model, choice.thinkingLevel) : undefined;

/** The chosen model; throws `model_not_found` without one. */
export function requireModel(choice: ModelChoice): Model {
  if (!choice.model) throw new Refusal('model_not_found', choice.notice ?? 'No model selected');
  return choice.model;
}

/** Stores the model, and the thinking level unless it equals `before`. */
export function recordChoice(
  to: Pick<SessionLog, 'append'>,
  { model, thinkingLevel }: ModelChoice,
  before?: ThinkingLevel,
): void {
  if (model) to.append({ type: 'model_change', provider: model.provider, modelId: model.id });
  if (thinkingLevel !== before) to.append({ type: 'thinking_level_change', thinkingLevel });
}

/** The model and thinking level that a stored session used last. */
export const storedChoice = (log: SessionLog) => ({ model: storedModel(log), thinkingLevel: storedLevel(log) });

/**
 * The virtual model that a stored session selected last. Its responses name the models that answered, so it holds until
 * the next selection, as far as it is registered.
 */
export function storedVirtualModel(registry: ModelRegistry, log: SessionLog): Model | undefined {
  const [latest] = log.nodesOfKind('model_change');
  const entry = latest && log.entry(latest.id);
  return entry?.type === 'model_change' ? registry.virtual.find(entry.provider, entry.modelId) : undefined;
}

function storedLevel(log: SessionLog): ThinkingLevel | undefined {
  for (const { id } of log.nodesOfKind('thinking_level_change')) {
    const entry = log.entry(id);
    if (entry?.type === 'thinking_level_change' && isThinkingLevel(entry.thinkingLevel)) return entry.thinkingLevel;
  }
  return undefined;
}

function storedModel(log: SessionLog): ModelName | undefined {
  const [latest] = log.nodesOfKind('model_change', 'assistant');
  const entry = latest && log.entry(latest.id);
  if (entry?.type === 'model_change') return { provider: entry.provider, id: entry.modelId };
  if (entry?.type !== 'message' || entry.message.role !== 'assistant') return undefined;
  const { provider, model } = entry.message;
  return provider && model ? { provider, id: model } : undefined;
}
