import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import { exportSession } from '../store/sessions/export/export-session.ts';
import { findSession } from '../store/sessions/find-session.ts';
import { harmless } from './chat/printer.ts';
import { pathIn } from './first-session.ts';
import { type Arguments, UsageError } from './flags.ts';
import { isSystemError } from './lifetime.ts';
import { surroundings } from './options.ts';

/** Writes a stored session as one HTML page. Only reads the session, so somebody may be at work in it. */
export async function exportPage(args: Arguments): Promise<number> {
  const [, session, outputPath, ...others] = args.positionals;
  if (session === undefined || others.length > 0) throw new UsageError('tau export takes <path|id> [out.html]');
  try {
    const path = await exportSession({ sessionPath: sessionNamed(session, args), outputPath, cwd: process.cwd() });
    process.stdout.write(`Exported to: ${harmless(path)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`tau: ${harmless(error.message)}\n`);
    return 1;
  }
}

function sessionNamed(name: string, args: Arguments): string {
  const { cwd, root, sessionDirectory } = surroundings(args);
  const path = pathIn(name, { cwd }) ?? (existsSync(name) ? resolve(cwd, name) : undefined);
  const found = path ?? findSession({ root, cwd, sessionDir: sessionDirectory(cwd), idPrefix: name });
  if (found === undefined) throw new Refusal('session_not_found', `No session found matching '${name}'`);
  return found;
}
