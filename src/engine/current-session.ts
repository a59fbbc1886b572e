import { realPath } from '../system/files/real-path.ts';
import type { Agent } from './agent.ts';

/** Whether a path leads to the agent's current session. */
export function isCurrentSession(agent: Agent, path: string): boolean {
  const current = agent.session.log.path;
  try {
    return current !== undefined && realPath(current) === realPath(path);
  } catch {
    // A symlink cycle leads to no session.
    return false;
  }
}
