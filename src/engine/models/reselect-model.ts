import type { ModelRegistry } from '../../model/registry/registry.ts';
import { isVirtual } from '../../model/registry/virtual-models.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import {
  chooseModel,
  clampLevel,
  type ModelChoice,
  storedChoice,
  storedVirtualModel,
  type UnresolvedModel,
} from '../../session/model-choice.ts';
import type { Session } from '../../session/session.ts';
import type { Agent } from '../agent.ts';
import { publishChanges } from '../agent-state.ts';
import { selectModel } from './model-selection.ts';

// A model choice with its thinking level, if that was requested too.
type Reselected = Omit<ModelChoice, 'thinkingLevel'> & { readonly level?: ThinkingLevel | undefined };

/** Selects the model of the session again after models were added or removed. */
export async function reselectModel(agent: Agent): Promise<void> {
  const { registry, session } = agent;
  await registry.refreshScope();
  const { choice } = session;
  const { level, ...next } = await reselect(registry, session);
  // The model or the session changed meanwhile.
  if (agent.session !== session || session.choice !== choice) return;
  const { model } = next;
  if (model && !isSame(model, choice.model)) {
    const isStored = [storedChoice(session.log).model, storedVirtualModel(registry, session.log)].some(
      (stored) => stored && isSame(model, stored),
    );
    const source = isStored ? 'restore' : 'set';
    await selectModel(agent, { model, source, requestedLevel: level });
    return;
  }
  publishChanges(agent, () => {
    session.choice = { ...next, thinkingLevel: clampLevel(model, choice.thinkingLevel) };
  });
}

async function reselect(registry: ModelRegistry, { choice, transcript, log }: Session): Promise<Reselected> {
  const { model, unavailable, unresolved, notice } = choice;
  if (unresolved) return resolveAwaited(registry, unresolved);
  const stored = storedChoice(log);
  const virtual = storedVirtualModel(registry, log);
  // A session of a virtual model is opened with the model that answered last, until the virtual one is registered.
  if (virtual && stored.model && isSame(stored.model, model ?? unavailable))
    return { ...chooseModel(registry, virtual), level: stored.thinkingLevel };
  if (model && isVirtual(model) && !registry.has(model.provider, model.id) && stored.model)
    return chooseModel(registry, stored.model);
  const name = model ?? unavailable;
  if (name) await registry.loadModel(name.provider, name.id);
  if (!model) {
    const found = chooseModel(registry, unavailable);
    // The existing notice may say more, such as its source.
    return found.notice !== undefined && notice?.startsWith(found.notice) ? choice : found;
  }
  // The built-in model is only a stand-in until it has received a message.
  if (notice !== undefined && transcript.messageCount === 0) return chooseModel(registry, undefined);
  const now = registry.find(model.provider, model.id);
  if (now) return { ...choice, model: now };
  // If only the key is missing, the model stays selected and its next call fails with a message.
  return registry.has(model.provider, model.id) ? choice : chooseModel(registry, model);
}

async function resolveAwaited(registry: ModelRegistry, unresolved: UnresolvedModel): Promise<Reselected> {
  try {
    const { model, thinkingLevel } = await registry.resolve(unresolved.request);
    return { ...chooseModel(registry, model), level: unresolved.thinkingLevel ?? thinkingLevel };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { model: null, notice: error.message, unresolved };
  }
}

const isSame = (one: Pick<Model, 'provider' | 'id'>, other: Pick<Model, 'provider' | 'id'> | null | undefined) =>
  one.provider === other?.provider && one.id === other.id;
