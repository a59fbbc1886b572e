import type { Agent } from './agent.ts';
import type { SessionLane } from './lanes.ts';

/** Settles when every session command is done and no run is active. */
export async function idle({ agent, lane }: { agent: Agent; lane: SessionLane }): Promise<void> {
  await lane.empty();
  await agent.session.idle();
}
