import { cycleModel } from '../engine/commands/models.ts';
import { selectThinkingLevel } from '../engine/models/model-selection.ts';
import type { ModelSelector } from '../model/registry/registry.ts';
import { isThinkingLevel } from '../model/thinking-levels.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Model, Result, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { type CycleDirection, nextThinkingLevel } from '../session/model-choice.ts';
import type { EmbedContext } from './context.ts';

/** A model or its name, `provider/id`. */
export type NamedModel = Pick<Model, 'provider' | 'id'> | string;

export type ModelCycleResult = NonNullable<Result<'cycle_model'>>;

export function providerAndId(model: NamedModel): { provider: string; modelId: string } {
  if (typeof model !== 'string') return { provider: model.provider, modelId: model.id };
  const [provider = '', ...id] = model.split('/');
  if (provider === '' || id.length === 0) throw new Refusal('invalid_params', `Not provider/id: ${model}`);
  return { provider, modelId: id.join('/') };
}

/** The pattern that finds the model; a name may be a pattern. */
export function modelPatternOf(model: NamedModel | undefined): ModelSelector | undefined {
  if (model === undefined || typeof model === 'string') return model === undefined ? undefined : { pattern: model };
  return { pattern: model.id, provider: model.provider };
}

export async function setModel(context: EmbedContext, model: NamedModel, persist: boolean | undefined): Promise<void> {
  await context.perform('set_model', { ...providerAndId(model), ...(persist === undefined ? {} : { persist }) });
}

/** Selects the next model; undefined when there is no other. */
export async function cycleModelIn(
  context: EmbedContext,
  direction: CycleDirection,
): Promise<ModelCycleResult | undefined> {
  return (
    (await context.perform('cycle_model', {}, { handler: () => cycleModel(context.agent, direction) })) ?? undefined
  );
}

export function setThinkingLevel({ agent }: EmbedContext, level: ThinkingLevel): void {
  if (!isThinkingLevel(level)) throw new Refusal('invalid_params', `Not a thinking level: ${level}`);
  void selectThinkingLevel(agent, level);
}

/** Selects the next thinking level; undefined for a model without thinking. */
export function cycleThinkingLevel({ agent }: EmbedContext): ThinkingLevel | undefined {
  const level = nextThinkingLevel(agent.session.choice);
  if (level) void selectThinkingLevel(agent, level);
  return level;
}
