import { Refusal } from '../protocol/errors.ts';
import { sessionNameFrom, renameStoredSession } from '../store/sessions/session-name.ts';
import { sessionsFolder } from '../store/agent-dir.ts';
import { SessionList } from '../store/sessions/listing/list-sessions.ts';
import { harmless } from './chat/printer.ts';
import { type Arguments, UsageError } from './flags.ts';
import { isSystemError } from './lifetime.ts';
import { surroundings } from './options.ts';
import { only, pathIn, sessionsNamed } from './session-named.ts';
import { listTable } from './sessions/table.ts';
import { stdoutReader } from './stdout-reader.ts';

/** What a verb works with. */
interface Desk {
  readonly args: Arguments;
  /** What was said after the verb. */
  readonly words: readonly string[];
  readonly cwd: string;
  readonly list: SessionList;
  readonly directory: string;
  /** The file that a path or the beginning of an id means. */
  readonly find: (name: string) => Promise<string>;
}

const verbs: Readonly<Record<string, (desk: Desk) => Promise<number>>> = {
  list: listed,
  show: shown,
  export: exported,
  rm: removed,
  rename: renamed,
  restore: restored,
};

/** Looks after the sessions on disk: `tau sessions <verb> …`. */
export async function sessions(args: Arguments): Promise<number> {
  const [, verb = 'list', ...words] = args.positionals;
  const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!work) throw new UsageError(`tau sessions takes ${Object.keys(verbs).join(', ')}, not ${JSON.stringify(verb)}`);
  const reader = stdoutReader();
  const code = await orSay(() => work(deskFor(args, words)));
  await reader.flushed();
  return code;
}

function deskFor(args: Arguments, words: readonly string[]): Desk {
  const { cwd, root, sessionDirectory, isChosen } = surroundings(args);
  const directory = sessionDirectory(cwd);
  const find = async (name: string) =>
    only(await sessionsNamed(name, { root, cwd, sessionDirectory: directory, isChosen }), name);
  return { args, words, cwd, directory, find, list: new SessionList(isChosen ? directory : sessionsFolder(root)) };
}

async function listed({ args, words, cwd, list, directory }: Desk): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau sessions list takes no ${JSON.stringify(words[0])}`);
  const { sessions } = await list.list({ extraFolder: directory, ...(args.all ? {} : { cwd }) });
  if (args.json) for (const session of sessions) process.stdout.write(`${JSON.stringify(session)}\n`);
  else if (sessions.length > 0) process.stdout.write(listTable(sessions, { withFolder: args.all !== undefined }));
  else say(args.all ? 'No sessions.' : `No sessions in ${cwd} (tau sessions list --all: in every folder).`);
  return 0;
}

async function shown({ words, find }: Desk): Promise<number> {
  const path = await find(oneOf(words, 'show'));
  const { page } = await import('./sessions/page.ts');
  process.stdout.write(await page(path));
  return 0;
}

async function exported({ words, find }: Desk): Promise<number> {
  const [name, outputPath, ...others] = words;
  if (name === undefined || others.length > 0) throw new UsageError('tau sessions export takes <path|id> [out.html]');
  const { writePage } = await import('./export.ts');
  return writePage(() => find(name), outputPath);
}

async function removed({ words, find }: Desk): Promise<number> {
  if (words.length === 0) throw new UsageError('tau sessions rm takes the ids or the paths of sessions');
  const { moveToTrash } = await import('../store/sessions/trash.ts');
  let worst = 0;
  for (const name of words) {
    const code = await orSay(async () => {
      say(`Moved to ${await moveToTrash(await find(name))}`);
      return 0;
    });
    worst = Math.max(worst, code);
  }
  return worst;
}

async function renamed({ words, find }: Desk): Promise<number> {
  const [session, ...name] = words;
  if (session === undefined || name.length === 0)
    throw new UsageError('tau sessions rename takes a session and a name');
  await renameStoredSession(await find(session), sessionNameFrom(name.join(' ')));
  return 0;
}

async function restored({ words, cwd, list, directory }: Desk): Promise<number> {
  const { sessions } = await list.list({ extraFolder: directory, trashed: true });
  if (words.length === 0) {
    if (sessions.length === 0) say('The trash is empty.');
    else process.stdout.write(listTable(sessions, { withFolder: true }));
    return 0;
  }
  const name = oneOf(words, 'restore');
  const paths = sessions.filter(({ id }) => id.startsWith(name)).map(({ path }) => path);
  const { restoreFromTrash } = await import('../store/sessions/trash.ts');
  say(`Restored to ${await restoreFromTrash(pathIn(name, { cwd }) ?? only(paths, name))}`);
  return 0;
}

function oneOf(words: readonly string[], verb: string): string {
  const [name] = words;
  if (name === undefined || words.length > 1) throw new UsageError(`tau sessions ${verb} takes one session`);
  return name;
}

/** Does something; a refusal goes to stderr and becomes the exit code. */
async function orSay(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`${harmless(error.message)}\n`);
    return 1;
  }
}

const say = (text: string) => void process.stdout.write(`${harmless(text)}\n`);
