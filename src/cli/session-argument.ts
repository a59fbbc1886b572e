import { resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import { expandHome } from '../store/agent-dir.ts';

/** Where sessions are looked for and made. */
export interface SessionLocations {
  readonly cwd: string;
  readonly root: string;
  readonly sessionDirectory: string;
  /** Whether somebody chose that directory: then they are nowhere else. */
  readonly isCustomDir: boolean;
}

/** The path that a name is; undefined when it is an id. */
export const sessionPathIn = (name: string, { cwd }: Pick<SessionLocations, 'cwd'>): string | undefined =>
  /[/\\]|\.jsonl$/.test(name) ? resolve(cwd, expandHome(name)) : undefined;

/** The files that are meant by a path or by the beginning of an id, the last written first. */
export async function matchSessions(name: string, locations: SessionLocations): Promise<readonly string[]> {
  const path = sessionPathIn(name, locations);
  if (path !== undefined) return [path];
  const { findSessions } = await import('../store/sessions/listing/find-session.ts');
  return findSessions({ ...locations, idPrefix: name });
}

/** The one that is meant: nobody wants to guess which one is written out or thrown away. */
export function singleMatch(paths: readonly string[], name: string): string {
  const [path] = paths;
  if (path === undefined) throw new Refusal('session_not_found', `No session found matching '${name}'`);
  if (paths.length > 1) {
    throw new Refusal('invalid_params', `${paths.length} sessions begin with '${name}': say more of the id`);
  }
  return path;
}
