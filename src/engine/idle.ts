import type { Agent } from './agent.ts';

/** Settles when every session command is done and no run is active. */
export async function idle(agent: Agent): Promise<void> {
  await agent.lane.empty();
  await agent.session.idle();
}
