import { resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import { expandHome } from '../store/agent-dir.ts';

/** Where a session of the command line is looked up or created. */
export interface SessionLocations {
  readonly cwd: string;
  readonly root: string;
  readonly sessionDirectory: string;
  /** Whether the user chose the directory: then sessions are nowhere else. */
  readonly isCustomDir: boolean;
}

/** The path that a session name stands for; undefined for an id. */
export const sessionPathIn = (name: string, { cwd }: Pick<SessionLocations, 'cwd'>): string | undefined =>
  /[/\\]|\.jsonl$/.test(name) ? resolve(cwd, expandHome(name)) : undefined;

/** The files that match a path or an id prefix, most recent first. */
export async function matchSessions(name: string, locations: SessionLocations): Promise<readonly string[]> {
  const path = sessionPathIn(name, locations);
  if (path !== undefined) return [path];
  const { findSessions } = await import('../store/sessions/listing/find-session.ts');
  return findSessions({ ...locations, idPrefix: name });
}

/** Returns the only match, because export and removal must not guess. */
export function singleMatch(paths: readonly string[], name: string): string {
  const [path] = paths;
  if (path === undefined) throw new Refusal('session_not_found', `No session found matching '${name}'`);
  if (paths.length > 1) {
    throw new Refusal('invalid_params', `${paths.length} sessions begin with '${name}': say more of the id`);
  }
  return path;
}
