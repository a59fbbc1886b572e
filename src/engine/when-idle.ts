import type { Agent } from './agent.ts';

/** Settles when every session command is done and no run is active. */
export async function whenIdle(agent: Agent): Promise<void> {
  await agent.lane.whenEmpty();
  await agent.session.idle();
}
