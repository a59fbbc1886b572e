import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { clampLevel, levelInSettings, recordChoice } from '../../session/model-choice.ts';
import type { Agent } from '../agent.ts';
import { publishChanges } from '../agent-state.ts';
import { ignoreErrors } from '../grace-period.ts';

/** A model to use from now on. */
export interface ModelSelection {
  readonly model: Model;
  /** A restored model is already stored in the session. */
  readonly source: 'set' | 'cycle' | 'restore';
  readonly requestedLevel?: ThinkingLevel | undefined;
}

/** Changes the model at once; settles when the hooks have run. */
export function selectModel(
  agent: Agent,
  { model, source, requestedLevel }: ModelSelection,
): Promise<void> | undefined {
  const { session, hooks } = agent;
  const { model: previousModel, thinkingLevel: previousLevel } = session.choice;
  const configured = levelInSettings(agent.project.settings, model);
  const thinkingLevel = clampLevel(model, requestedLevel ?? configured ?? levelForNextModel(agent));
  const choice = { model, thinkingLevel };
  publishChanges(agent, () => {
    if (source !== 'restore') recordChoice(session.transcript, choice, previousLevel);
    session.choice = choice;
  });
  const notified = ignoreErrors(() => hooks.modelSelect?.({ model, previousModel, source }));
  return notified === undefined
    ? notifyLevelChange(agent, previousLevel)
    : notified.then(() => notifyLevelChange(agent, previousLevel));
}

/** Changes the thinking level at once, to the nearest that the model supports; settles when the hooks have run. */
export function selectThinkingLevel(agent: Agent, requestedLevel: ThinkingLevel): Promise<void> | undefined {
  const { session } = agent;
  const { model, thinkingLevel: previousLevel } = session.choice;
  const thinkingLevel = clampLevel(model, requestedLevel);
  if (thinkingLevel === previousLevel) return undefined;
  publishChanges(agent, () => {
    session.transcript.append({ type: 'thinking_level_change', thinkingLevel });
    session.choice = { ...session.choice, thinkingLevel };
  });
  return notifyLevelChange(agent, previousLevel);
}

/** After a model without thinking the default level applies. */
function levelForNextModel({ session, project }: Agent): ThinkingLevel {
  const { model, thinkingLevel } = session.choice;
  return model && !model.reasoning ? (project.settings.defaultThinkingLevel ?? 'medium') : thinkingLevel;
}

function notifyLevelChange({ session, hooks }: Agent, previousLevel: ThinkingLevel): Promise<void> | undefined {
  const { thinkingLevel: level } = session.choice;
  return level === previousLevel
    ? undefined
    : ignoreErrors(() => hooks.thinkingLevelSelect?.({ level, previousLevel }));
}

/** Uses the context window with which a local server runs a model, if it is smaller than the assumed one, and warns. */
export function useServedWindows(agent: Agent): void {
  agent.registry.servedWindows.onSmaller = ({ provider, id, contextWindow: assumed }, served) => {
    const { session } = agent;
    const { model } = session.choice;
    if (model?.provider === provider && model.id === id) {
      publishChanges(agent, () => {
        session.choice = { ...session.choice, model: served };
      });
    }
    agent.warnings.report('models', [
      `Ollama runs ${id} with a context of ${served.contextWindow} tokens, not ${assumed}, and drops the beginning of ` +
        'longer requests. Set OLLAMA_CONTEXT_LENGTH for the server, or num_ctx in the Modelfile',
    ]);
  };
}
