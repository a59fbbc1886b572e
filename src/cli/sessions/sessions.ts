import { Refusal } from '../../protocol/errors.ts';
import { sessionsFolder } from '../../store/agent-dir.ts';
import { SessionList } from '../../store/sessions/listing/list-sessions.ts';
import { renameStoredSession, sessionNameFrom } from '../../store/sessions/session-name.ts';
import { moveToTrash, restoreFromTrash } from '../../store/sessions/trash.ts';
import { terminalJson, terminalText } from '../../system/terminal-text.ts';
import { cliPaths } from '../engine-options.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { isSystemError } from '../lifetime.ts';
import { watchStdoutReader } from '../stdio.ts';
import { sessionPage } from './page.ts';
import { matchSessions, sessionPathIn, singleMatch } from './session-argument.ts';
import { sessionTable } from './table.ts';

// The input of a verb.
interface VerbContext {
  readonly args: CliArguments;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly list: SessionList;
  readonly directory: string;
  // Finds the file of a path or an id prefix.
  readonly find: (name: string) => Promise<string>;
}

const verbs: Readonly<Record<string, (context: VerbContext) => Promise<number>>> = {
  list: listSessions,
  show: showSession,
  export: exportOne,
  rm: removeSessions,
  rename: renameSession,
  restore: restoreSession,
};

/** `tau sessions <verb>`: lists, shows, exports, removes, renames and restores stored sessions. */
export async function sessions(args: CliArguments): Promise<number> {
  const [, verb = 'list', ...words] = args.positionals;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`tau sessions takes ${Object.keys(verbs).join(', ')}, not ${JSON.stringify(verb)}`);
  const reader = watchStdoutReader();
  const code = await withErrorReport(() => run(contextFor(args, words)));
  await reader.flushed();
  return code;
}

function contextFor(args: CliArguments, words: readonly string[]): VerbContext {
  const { cwd, root, sessionDirectory, isCustomDir } = cliPaths(args);
  const directory = sessionDirectory(cwd);
  const find = async (name: string) =>
    singleMatch(await matchSessions(name, { root, cwd, sessionDirectory: directory, isCustomDir }), name);
  return { args, words, cwd, directory, find, list: new SessionList(isCustomDir ? directory : sessionsFolder(root)) };
}

async function listSessions({ args, words, cwd, list, directory }: VerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau sessions list takes no ${JSON.stringify(words[0])}`);
  const { sessions } = await list.list({ extraFolder: directory, ...(args.all ? {} : { cwd }) });
  if (args.json) for (const session of sessions) process.stdout.write(`${terminalJson(JSON.stringify(session))}\n`);
  else if (sessions.length > 0) process.stdout.write(sessionTable(sessions, { withFolder: args.all !== undefined }));
  else printLine(args.all ? 'No sessions.' : `No sessions in ${cwd} (tau sessions list --all: in every folder).`);
  return 0;
}

async function showSession({ words, find }: VerbContext): Promise<number> {
  const path = await find(oneOf(words, 'show'));
  process.stdout.write(await sessionPage(path));
  return 0;
}

async function exportOne({ words, find }: VerbContext): Promise<number> {
  const [name, outputPath, ...others] = words;
  if (name === undefined || others.length > 0) throw new UsageError('tau sessions export takes <path|id> [out.html]');
  const { writePage } = await import('./export.ts');
  return writePage(() => find(name), outputPath);
}

async function removeSessions({ words, find }: VerbContext): Promise<number> {
  if (words.length === 0) throw new UsageError('tau sessions rm takes the ids or the paths of sessions');
  let worst = 0;
  for (const name of words) {
    const code = await withErrorReport(async () => {
      printLine(`Moved to ${await moveToTrash(await find(name))}`);
      return 0;
    });
    worst = Math.max(worst, code);
  }
  return worst;
}

async function renameSession({ words, find }: VerbContext): Promise<number> {
  const [session, ...name] = words;
  if (session === undefined || name.length === 0)
    throw new UsageError('tau sessions rename takes a session and a name');
  await renameStoredSession(await find(session), sessionNameFrom(name.join(' ')));
  return 0;
}

async function restoreSession({ words, cwd, list, directory }: VerbContext): Promise<number> {
  const { sessions } = await list.list({ extraFolder: directory, trashed: true });
  if (words.length === 0) {
    if (sessions.length === 0) printLine('The trash is empty.');
    else process.stdout.write(sessionTable(sessions, { withFolder: true }));
    return 0;
  }
  const name = oneOf(words, 'restore');
  const paths = sessions.filter(({ id }) => id.startsWith(name)).map(({ path }) => path);
  printLine(`Restored to ${await restoreFromTrash(sessionPathIn(name, { cwd }) ?? singleMatch(paths, name))}`);
  return 0;
}

function oneOf(words: readonly string[], verb: string): string {
  const [name] = words;
  if (name === undefined || words.length > 1) throw new UsageError(`tau sessions ${verb} takes one session`);
  return name;
}

/** Prints an error to stderr and turns it into the exit code. */
async function withErrorReport(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`${terminalText(error.message)}\n`);
    return 1;
  }
}

const printLine = (text: string) => void process.stdout.write(`${terminalText(text)}\n`);
