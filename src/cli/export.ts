import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import { exportSession } from '../store/sessions/export/export-session.ts';
import { harmless } from './chat/printer.ts';
import { type Arguments, UsageError } from './flags.ts';
import { isSystemError } from './lifetime.ts';
import { surroundings } from './options.ts';
import { only, sessionsNamed } from './session-named.ts';

/** Writes a stored session as one HTML page. Only reads the session, so somebody may be at work in it. */
export async function exportPage(args: Arguments): Promise<number> {
  const [, session, outputPath, ...others] = args.positionals;
  if (session === undefined || others.length > 0) throw new UsageError('tau export takes <path|id> [out.html]');
  if (outputPath === '-') throw new UsageError('tau export writes a file: give it a name');
  return writePage(() => sessionNamed(session, args), outputPath);
}

/** Writes the session that is found; what stands in the way is one line on stderr. */
export async function writePage(find: () => Promise<string>, outputPath: string | undefined): Promise<number> {
  try {
    const path = await exportSession({ sessionPath: await find(), outputPath, cwd: process.cwd() });
    process.stdout.write(`Exported to: ${harmless(path)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`tau: ${harmless(error.message)}\n`);
    return 1;
  }
}

/** A file is taken at its word even where its name could be an id. */
async function sessionNamed(name: string, args: Arguments): Promise<string> {
  const { cwd, root, sessionDirectory, isChosen } = surroundings(args);
  if (existsSync(name)) return resolve(cwd, name);
  return only(await sessionsNamed(name, { cwd, root, sessionDirectory: sessionDirectory(cwd), isChosen }), name);
}
