import type { ModelRegistry } from '../../model/registry/registry.ts';
import { supportedLevels } from '../../model/thinking-levels.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { type CycleDirection, nextModel, nextThinkingLevel } from '../../session/model-choice.ts';

import type { Agent } from '../agent.ts';
import type { Handlers } from '../dispatch.ts';
import { selectModel, selectThinkingLevel } from '../models/model-selection.ts';

/** Handlers that select models and thinking levels, store API keys and sign in. */
export const models = {
  set_model: ({ provider, modelId, persist }, { agent }) => {
    const use = (model: Model) =>
      agent.persistThen({ defaultProvider: provider, defaultModel: modelId }, { persist }, () =>
        afterNotifying(model, selectModel(agent, { model, source: 'set' })),
      );
    // A known model is set synchronously, before the next command.
    const model = agent.registry.find(provider, modelId);
    return model ? use(model) : findUnlistedModel(agent.registry, provider, modelId).then(use);
  },

  cycle_model: (_params, { agent }) => cycleModel(agent),

  get_available_models: async ({ builtins = false }, { agent: { registry, session, warnings, addons } }) => {
    // Extensions that are loading may register providers.
    await Promise.all([registry.load(), registry.discoverLocalModels(), addons.loading]);
    warnings.report('models', registry.problems);
    const { model, notice } = session.choice;
    // A fallback model was not requested.
    const isChosen = model?.provider === 'tau' && notice === undefined;
    return { models: [...registry.available({ scripted: builtins || isChosen })] };
  },

  set_credential: async ({ provider, apiKey }, { agent }) => {
    const { parseApiKey } = await import('../../store/credentials.ts');
    await agent.setApiKey(provider, parseApiKey(apiKey));
    return { provider, models: usableModelCount(agent, provider) };
  },

  remove_credential: async ({ provider }, { agent }) => {
    await agent.setApiKey(provider, undefined);
    return { provider, models: usableModelCount(agent, provider) };
  },

  list_providers: async (_params, { agent: { registry } }) => {
    await registry.load({ anyway: true });
    return { providers: registry.auth?.keyedProviders() ?? [] };
  },

  get_login_providers: async (_params, { agent: { registry } }) => {
    await registry.load({ anyway: true });
    return { providers: registry.auth?.loginProviders() ?? [] };
  },

  login: async ({ providerId }, { agent, connection, signal }) => {
    const { logInThroughDialogs } = await import('../models/login.ts');
    await logInThroughDialogs(agent, { providerId, connection, signal });
    return { providerId, models: usableModelCount(agent, providerId) };
  },

  set_thinking_level: ({ level: requestedLevel, persist }, { agent }) => {
    const level = requestedLevel === 'brief' ? 'minimal' : requestedLevel;
    return agent.persistThen({ defaultThinkingLevel: level }, { persist }, () =>
      afterNotifying(undefined, selectThinkingLevel(agent, level)),
    );
  },

  cycle_thinking_level: (_params, { agent }) => {
    const level = nextThinkingLevel(agent.session.choice);
    if (!level) return null;
    return afterNotifying({ level }, selectThinkingLevel(agent, level));
  },

  get_available_thinking_levels: (_params, { agent }) => {
    const { model } = agent.session.choice;
    return { levels: model ? supportedLevels(model) : ['off'] };
  },
} satisfies Partial<Handlers>;

/** Selects the next model, or the previous one. */
export function cycleModel(agent: Agent, direction: CycleDirection = 'forward') {
  const next = nextModel(agent.registry, agent.session.choice.model, direction);
  if (!next) return null;
  const { model, isScoped } = next;
  const notified = selectModel(agent, { model, source: 'cycle', requestedLevel: next.thinkingLevel });
  const { thinkingLevel } = agent.session.choice;
  return afterNotifying({ model, thinkingLevel, isScoped }, notified);
}

const usableModelCount = ({ registry }: Agent, provider: string): number =>
  registry.available().filter((model) => model.provider === provider).length;

/** Finds a model that is not loaded yet: files may have changed, or a server may have started. */
async function findUnlistedModel(registry: ModelRegistry, provider: string, id: string): Promise<Model> {
  await registry.loadProvider(provider);
  const found = registry.find(provider, id);
  if (found) return found;
  const why = registry.has(provider, id)
    ? registry.unavailableReason(provider, id)
    : `Model not found: ${provider}/${id}`;
  throw new Refusal('model_not_found', why);
}

/** Returns the result after the notification, or at once without one. */
const afterNotifying = <T>(result: T, notified: Promise<unknown> | undefined): T | Promise<T> =>
  notified === undefined ? result : notified.then(() => result);
