import { onTestFinished } from 'vitest';
import {
  type AgentSession,
  type AgentSessionEvent,
  type CreateAgentSessionOptions,
  createAgentSession,
} from '../../../src/index.ts';
import { environment, newHome, scriptArgs } from './test-agent.ts';

/** Creates an agent session in this process through pi's API; without `answers` the model converses. */
export async function createTestSession(
  { answers, ...options }: CreateAgentSessionOptions & { answers?: readonly object[] } = {},
  home = newHome(),
) {
  const [, script] = answers ? scriptArgs(home, answers) : [];
  const { cwd, agentDir } = home;
  const defaults = { agentDir, script, env: environment(home), model: 'tau/scripted' };
  const result = await createAgentSession({ ...defaults, ...(options.sessionManager ? {} : { cwd }), ...options });
  onTestFinished(() => result.session.dispose());
  return { ...result, home };
}

/** Collects all events that the session emits from now on. */
export function collectEvents(session: AgentSession): AgentSessionEvent[] {
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  return events;
}

/** Settles with the next event that matches. */
export function nextSessionEvent(
  session: AgentSession,
  matches: (event: AgentSessionEvent) => boolean,
): Promise<AgentSessionEvent> {
  return new Promise((resolve) => {
    const unsubscribe = session.subscribe((event) => {
      if (!matches(event)) return;
      unsubscribe();
      resolve(event);
    });
  });
}

/** Settles with the next event of this type. */
export const nextEventOfType = (session: AgentSession, type: AgentSessionEvent['type']) =>
  nextSessionEvent(session, (event) => event.type === type);
