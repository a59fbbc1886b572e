import { levelsOf } from '../../model/thinking.ts';
import { Refusal } from '../../protocol/errors.ts';
import { nextModel, nextThinkingLevel } from '../../session/model-choice.ts';
import { sessionNameFrom } from '../../session/session-name.ts';
import type { Handlers } from '../dispatch.ts';

export const settings = {
  set_model: ({ provider, modelId }, { agent }) => {
    const model = agent.registry.find(provider, modelId);
    if (!model) throw new Refusal('model_not_found', `Model not found: ${provider}/${modelId}`);
    return once(agent.setModel(model, 'set'), model);
  },

  cycle_model: (_params, { agent }) => {
    const model = nextModel(agent.registry, agent.session.choice.model);
    if (!model) return null;
    const told = agent.setModel(model, 'cycle');
    return once(told, { model, thinkingLevel: agent.session.choice.thinkingLevel, isScoped: false });
  },

  get_available_models: (_params, { agent }) => ({ models: [...agent.registry.available()] }),

  set_thinking_level: ({ level }, { agent }) => {
    return once(agent.setThinkingLevel(level === 'brief' ? 'minimal' : level), undefined);
  },

  cycle_thinking_level: (_params, { agent }) => {
    const level = nextThinkingLevel(agent.session.choice);
    if (!level) return null;
    return once(agent.setThinkingLevel(level), { level });
  },

  get_available_thinking_levels: (_params, { agent }) => {
    const { model } = agent.session.choice;
    return { levels: model ? levelsOf(model) : ['off'] };
  },

  set_session_name: ({ name }, { agent }) => {
    agent.setName(sessionNameFrom(name));
    return undefined;
  },

  set_trust: ({ trusted, remember }, { agent }) => {
    agent.setTrust({ trusted, remember: remember ?? true });
    return { projectTrusted: agent.project.trusted };
  },
} satisfies Partial<Handlers>;

/** The answer, after the hooks have heard; at once when there is none to hear. */
const once = <T>(told: Promise<void> | undefined, answer: T): T | Promise<T> =>
  told === undefined ? answer : told.then(() => answer);
