import type { ModelRegistry } from '../model/registry/registry.ts';
import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import { storedChoice } from '../session/model-choice.ts';
import type { Session } from '../session/session.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Project } from './project.ts';

/** A session that the agent can switch to. */
export interface PreparedSession {
  readonly session: Session;
  readonly project: Project;
  /** Tool calls whose results were lost in a crash. */
  readonly repaired: readonly string[];
}

/** Loads the model that a stored session used, so that it is found, or reported missing by name. */
export async function loadStoredModel(registry: ModelRegistry, log: SessionLog): Promise<void> {
  const { model } = storedChoice(log);
  if (model) await registry.loadModel(model.provider, model.id);
}

/** Events about a session beyond its state: repairs and queued messages. */
export function openingEvents({ session, repaired }: PreparedSession, previous?: Session): AgentEvent[] {
  const { tornBytes, header } = session.log;
  const events: AgentEvent[] = [];
  if (repaired.length > 0 || tornBytes > 0) {
    events.push({ type: 'session_repaired', sessionId: header.id, toolCallIds: [...repaired], tornBytes });
  }
  if (session.queue.length > 0 || previous?.queue.length) events.push(session.queue.update());
  return events;
}
