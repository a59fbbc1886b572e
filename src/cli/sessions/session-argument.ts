import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FirstSession } from '../../engine/open.ts';
import { Refusal } from '../../protocol/errors.ts';
import { expandHome } from '../../store/agent-dir.ts';
import { isSessionId } from '../../store/sessions/header.ts';
import { findSessionById, findSessions, latestSession } from '../../store/sessions/listing/find-session.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { type CliArguments, PiError, UsageError } from '../flags/flags.ts';

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
  return findSessions({ ...locations, idPrefix: name });
}

/** Returns the only match, because export and removal must not guess. */
export function singleMatch(paths: readonly string[], name: string): string {
  const [path] = paths;
  if (path === undefined) throw new Refusal('session_not_found', `No session found matching '${name}'`);
  if (paths.length > 1) {
    throw new Refusal('invalid_params', `${paths.length} sessions begin with '${name}': give more of the id`);
  }
  return path;
}

/** The session that the command line selects. A fork is made here, so resolve all other options first. */
export async function firstSession(args: CliArguments, locations: SessionLocations): Promise<FirstSession> {
  const id = args['session-id'];
  if (id !== undefined && !isSessionId(id))
    throw new UsageError('--session-id takes up to 128 letters, digits, - and _, with a letter or digit at both ends');
  if (args['no-session']) return { kind: 'memory', id };
  if (args.session !== undefined) return openNamed(args.session, locations);
  if (args.fork !== undefined) return forkNamed(args.fork, locations);
  if (args.resume) return resumedSession(locations);
  if (id === undefined && !args.continue) return { kind: 'new' };
  if (id === undefined) {
    const path = latestSession(locations.sessionDirectory, locations.cwd);
    return path === undefined ? { kind: 'new' } : { kind: 'file', path, create: false };
  }
  const path = findSessionById({ ...locations, id });
  return path === undefined ? { kind: 'new', id } : { kind: 'file', path, create: false };
}

async function resumedSession(locations: SessionLocations): Promise<FirstSession> {
  const { chooseSessionToResume } = await import('./choose-session.ts');
  const path = await chooseSessionToResume(locations);
  return path === undefined ? { kind: 'new' } : { kind: 'file', path, create: false };
}

async function openNamed(name: string, locations: SessionLocations): Promise<FirstSession> {
  const path = sessionPathIn(name, locations);
  if (path === undefined) return { kind: 'file', path: await pathOfId(name, locations), create: false };
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new Refusal('session_not_found', `Session not found: ${path} (its folder does not exist)`);
  }
  return { kind: 'file', path, create: true };
}

async function forkNamed(name: string, locations: SessionLocations): Promise<FirstSession> {
  const source = await SessionLog.open(sessionPathIn(name, locations) ?? (await pathOfId(name, locations)));
  try {
    const { cwd, sessionDirectory: directory } = locations;
    const copy = await source.copy({ leafId: source.leafId, directory, cwd });
    await copy.close({ keepEmpty: true });
    return { kind: 'file', path: copy.path ?? '', create: false };
  } finally {
    await source.close({ keepEmpty: true });
  }
}

async function pathOfId(name: string, locations: SessionLocations): Promise<string> {
  const [path] = await matchSessions(name, locations);
  if (path === undefined) throw new PiError(`No session found matching '${name}'`);
  return path;
}
