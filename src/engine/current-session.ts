import { realpathSync } from 'node:fs';
import type { Agent } from './agent.ts';

/** Whether this path leads to the session that the agent is in. */
export function isCurrent(agent: Agent, path: string): boolean {
  const current = agent.session.log.path;
  return current !== undefined && realPath(current) === realPath(path);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
