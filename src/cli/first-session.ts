import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FirstSession } from '../engine/open.ts';
import { Refusal } from '../protocol/errors.ts';
import { isSessionId } from '../store/sessions/header.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import { type Arguments, PiFailure, UsageError } from './flags.ts';
import { type Places, pathIn, sessionsNamed } from './session-named.ts';

/** The session that the command line asks for. A fork is made here: ask for everything else first. */
export async function firstSession(args: Arguments, places: Places): Promise<FirstSession> {
  const id = args['session-id'];
  if (id !== undefined && !isSessionId(id))
    throw new UsageError('--session-id takes up to 128 letters, digits, - and _, with a letter or digit at both ends');
  if (args['no-session']) return { kind: 'memory', id };
  if (args.session !== undefined) return sessionNamed(args.session, places);
  if (args.fork !== undefined) return forkOf(args.fork, places);
  if (args.resume) return resumed(places);
  if (id === undefined && !args.continue) return { kind: 'new' };
  const { findSessionById, latestSession } = await import('../store/sessions/listing/find-session.ts');
  if (id === undefined) {
    const path = latestSession(places.sessionDirectory, places.cwd);
    return path === undefined ? { kind: 'new' } : { kind: 'file', path, create: false };
  }
  const path = findSessionById({ ...places, id });
  return path === undefined ? { kind: 'new', id } : { kind: 'file', path, create: false };
}

async function resumed(places: Places): Promise<FirstSession> {
  const { askWhichSession } = await import('./resume.ts');
  const path = await askWhichSession(places);
  return path === undefined ? { kind: 'new' } : { kind: 'file', path, create: false };
}

async function sessionNamed(name: string, places: Places): Promise<FirstSession> {
  const path = pathIn(name, places);
  if (path === undefined) return { kind: 'file', path: await sessionWithId(name, places), create: false };
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new Refusal('session_not_found', `Session not found: ${path} (its folder does not exist)`);
  }
  return { kind: 'file', path, create: true };
}

async function forkOf(name: string, places: Places): Promise<FirstSession> {
  const source = await SessionLog.open(pathIn(name, places) ?? (await sessionWithId(name, places)));
  try {
    const { cwd, sessionDirectory: directory } = places;
    const copy = await source.copy({ leafId: source.leafId, directory, cwd });
    await copy.close({ keepEmpty: true });
    return { kind: 'file', path: copy.path ?? '', create: false };
  } finally {
    await source.close({ keepEmpty: true });
  }
}

async function sessionWithId(name: string, places: Places): Promise<string> {
  const [path] = await sessionsNamed(name, places);
  if (path === undefined) throw new PiFailure(`No session found matching '${name}'`);
  return path;
}
