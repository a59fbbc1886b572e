import type { ModelRegistry } from '../model/registry/registry.ts';
import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import { storedChoice } from '../session/model-choice.ts';
import type { Session } from '../session/session.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Project } from './project.ts';

/** A session that the agent could go over to. */
export interface PreparedSession {
  readonly session: Session;
  readonly project: Project;
  /** The tool calls whose results a crash had swallowed. */
  readonly repaired: readonly string[];
}

/** Learns of the model that a stored session used, so that it is found, or missed by its name. */
export async function loadStoredModel(registry: ModelRegistry, log: SessionLog): Promise<void> {
  const { model } = storedChoice(log);
  if (model) await registry.loadModel(model.provider, model.id);
}

/** What clients must know of a session beyond its state: what was mended in it, and what waits in its queue. */
export function openingEvents({ session, repaired }: PreparedSession, previous?: Session): AgentEvent[] {
  const { tornBytes, header } = session.log;
  const events: AgentEvent[] = [];
  if (repaired.length > 0 || tornBytes > 0) {
    events.push({ type: 'session_repaired', sessionId: header.id, toolCallIds: [...repaired], tornBytes });
  }
  if (session.queue.length > 0 || previous?.queue.length) events.push(session.queue.update());
  return events;
}
