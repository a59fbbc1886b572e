import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import { exportSession } from '../../store/sessions/export/export-session.ts';
import { terminalText } from '../../system/terminal-text.ts';
import { cliPaths } from '../engine-options.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { isSystemError } from '../lifetime.ts';
import { matchSessions, singleMatch } from './session-argument.ts';

/** `tau export`: writes a stored session as one HTML page. It only reads the session, which may be in use. */
export async function exportPage(args: CliArguments): Promise<number> {
  const [, session, outputPath, ...others] = args.positionals;
  if (session === undefined || others.length > 0) throw new UsageError('tau export takes <path|id> [out.html]');
  if (outputPath === '-') throw new UsageError('tau export writes a file: give it a name');
  return writePage(() => findSessionFile(session, args), outputPath);
}

/** Writes the page; an error becomes one line on stderr. */
export async function writePage(find: () => Promise<string>, outputPath: string | undefined): Promise<number> {
  try {
    const path = await exportSession({ sessionPath: await find(), outputPath, cwd: process.cwd() });
    process.stdout.write(`Exported to: ${terminalText(path)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`tau: ${terminalText(error.message)}\n`);
    return 1;
  }
}

/** An existing file takes precedence over an id. */
async function findSessionFile(name: string, args: CliArguments): Promise<string> {
  const { cwd, root, sessionDirectory, isCustomDir } = cliPaths(args);
  if (existsSync(name)) return resolve(cwd, name);
  return singleMatch(
    await matchSessions(name, { cwd, root, sessionDirectory: sessionDirectory(cwd), isCustomDir }),
    name,
  );
}
