import { join } from 'node:path';
import { messageOf } from '../protocol/errors.ts';
import { ApprovalsFile } from '../store/approvals/approvals-file.ts';
import { readJsonObject } from '../store/json-file.ts';
import { terminalJson, warn } from '../system/terminal-text.ts';
import { cliPaths } from './engine-options.ts';
import { type CliArguments, UsageError } from './flags/flags.ts';
import { printAndExit } from './stdio.ts';
import { textTable } from './text-table.ts';

// The input of a verb.
interface ApprovalVerbContext {
  readonly args: CliArguments;
  readonly words: readonly string[];
  readonly file: ApprovalsFile;
  // This one, or with --all every folder with approvals.
  readonly folders: readonly string[];
}

const verbs: Readonly<Record<string, (context: ApprovalVerbContext) => Promise<number>>> = {
  list: listVerb,
  remove: removeVerb,
};

/** `tau approvals <verb>`: lists and withdraws the saved approvals of this folder, or of all. */
export async function approvals(args: CliArguments): Promise<number> {
  const [, verb = 'list', ...words] = args.positionals;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`tau approvals takes ${Object.keys(verbs).join(', ')}, not ${JSON.stringify(verb)}`);
  if (args.json && verb !== 'list') throw new UsageError('--json goes with tau approvals list');
  try {
    const { cwd, root } = cliPaths(args);
    const folders = args.all ? foldersIn(root) : [cwd];
    return await run({ args, words, file: new ApprovalsFile(root), folders });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warn(messageOf(error));
    return 1;
  }
}

async function listVerb({ args, words, file, folders }: ApprovalVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau approvals list takes no ${JSON.stringify(words[0])}`);
  const found = folders.flatMap((folder) => {
    const { approvals, warnings } = file.list(folder);
    for (const warning of warnings) warn(warning);
    return approvals.map(({ rule, at }) => ({ folder, rule, at }));
  });
  if (args.json) return printAndExit(found.map((row) => `${terminalJson(JSON.stringify(row))}\n`).join(''));
  if (found.length === 0)
    return printAndExit(args.all ? 'No approvals.\n' : 'No approvals in this folder (--all: in every folder).\n');
  const rows = found.map(({ folder, rule, at = '' }) => [at.slice(0, 10), rule, ...(args.all ? [folder] : [])]);
  return printAndExit(textTable(['SAVED', 'RULE', ...(args.all ? ['FOLDER'] : [])], rows));
}

async function removeVerb({ args, words, file, folders }: ApprovalVerbContext): Promise<number> {
  // A rule may have spaces: without quotes it is several words.
  const rule = words.join(' ');
  if (rule === '') throw new UsageError('tau approvals remove takes a rule of tau approvals list');
  let count = 0;
  for (const folder of folders) if (await file.remove(folder, rule)) count++;
  if (count === 0) throw new Error(`There is no approval ${rule}${args.all ? '' : ' in this folder'}`);
  return printAndExit(args.all ? `Removed ${rule} from ${count} folders.\n` : `Removed ${rule}.\n`);
}

function foldersIn(root: string): readonly string[] {
  const path = join(root, 'approvals.json');
  try {
    return Object.keys(readJsonObject(path) ?? {});
  } catch (error) {
    throw new Error(`${path}: ${messageOf(error)}`);
  }
}
