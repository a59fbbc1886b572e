import { onTestFinished } from 'vitest';
import {
  type AgentSession,
  type AgentSessionEvent,
  type CreateAgentSessionOptions,
  createAgentSession,
} from '../../src/index.ts';
import { environment, newHome, scriptArgs } from './open.ts';

/** An agent in this process under pi's names; without `answers` its model converses. */
export async function created(
  { answers, ...options }: CreateAgentSessionOptions & { answers?: readonly object[] } = {},
  home = newHome(),
) {
  const [, script] = answers ? scriptArgs(home, answers) : [];
  const { cwd, agentDir } = home;
  const usual = { agentDir, script, env: environment(home), model: 'tau/scripted' };
  const result = await createAgentSession({ ...usual, ...(options.sessionManager ? {} : { cwd }), ...options });
  onTestFinished(() => result.session.dispose());
  return { ...result, home };
}

/** Everything that a session tells from now on. */
export function eventsOf(session: AgentSession): AgentSessionEvent[] {
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  return events;
}

/** Settles with the next event that fits. */
export function next(session: AgentSession, fits: (event: AgentSessionEvent) => boolean): Promise<AgentSessionEvent> {
  return new Promise((resolve) => {
    const stop = session.subscribe((event) => {
      if (!fits(event)) return;
      stop();
      resolve(event);
    });
  });
}

/** Settles when a session tells of this. */
export const told = (session: AgentSession, type: AgentSessionEvent['type']) =>
  next(session, (event) => event.type === type);
