import { realPath } from '../system/files/real-path.ts';
import type { Agent } from './agent.ts';

/** Whether this path leads to the session that the agent is in. */
export function isCurrentSession(agent: Agent, path: string): boolean {
  const current = agent.session.log.path;
  try {
    return current !== undefined && realPath(current) === realPath(path);
  } catch {
    // A ring of symlinks leads to no session.
    return false;
  }
}
