import { messageOf } from '../protocol/errors.ts';
import { terminalJson, warn } from '../system/terminal-text.ts';
import { workingFolder } from './engine-options.ts';
import { type CliArguments, UsageError } from './flags/flags.ts';
import { printAndExit } from './stdio.ts';
import { textTable } from './text-table.ts';

/** A rule that a user saved with "Always allow". */
interface SavedRule {
  /** The real path of the folder. */
  readonly project: string;
  readonly rule: string;
  /** ISO 8601. */
  readonly at?: string | undefined;
}

/** The saved rules of the agent folder. */
export interface SavedRules {
  /** The rules of one project, or of all. */
  list(project?: string): readonly SavedRule[];
  /** Returns whether there was such a rule. */
  remove(project: string, rule: string): Promise<boolean>;
}

// The input of a verb.
interface ApprovalVerbContext {
  readonly args: CliArguments;
  readonly words: readonly string[];
  readonly rules: SavedRules;
}

const verbs: Readonly<Record<string, (context: ApprovalVerbContext) => Promise<number>>> = {
  list: listVerb,
  remove: removeVerb,
};

/** `tau approvals <verb>`: lists and withdraws the saved rules of this project, or of all. */
export async function approvals(args: CliArguments, rules: SavedRules): Promise<number> {
  const [, verb = 'list', ...words] = args.positionals;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) throw new UsageError(`tau approvals takes ${Object.keys(verbs).join(', ')}, not ${JSON.stringify(verb)}`);
  if (args.json && verb !== 'list') throw new UsageError('--json goes with tau approvals list');
  try {
    return await run({ args, words, rules });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warn(messageOf(error));
    return 1;
  }
}

async function listVerb({ args, words, rules }: ApprovalVerbContext): Promise<number> {
  if (words[0] !== undefined) throw new UsageError(`tau approvals list takes no ${JSON.stringify(words[0])}`);
  const found = rules.list(args.all ? undefined : workingFolder());
  if (args.json) return printAndExit(found.map((rule) => `${terminalJson(JSON.stringify(rule))}\n`).join(''));
  if (found.length === 0)
    return printAndExit(args.all ? 'No approvals.\n' : 'No approvals in this folder (--all: in every folder).\n');
  const rows = found.map(({ project, rule, at = '' }) => [at.slice(0, 10), rule, ...(args.all ? [project] : [])]);
  return printAndExit(textTable(['SAVED', 'RULE', ...(args.all ? ['FOLDER'] : [])], rows));
}

async function removeVerb({ args, words, rules }: ApprovalVerbContext): Promise<number> {
  // A rule may have spaces: it is one word only in quotes.
  const rule = words.join(' ');
  if (rule === '') throw new UsageError('tau approvals remove takes a rule of tau approvals list');
  const holders = rules.list(args.all ? undefined : workingFolder()).filter((saved) => saved.rule === rule);
  let count = 0;
  for (const { project } of holders) if (await rules.remove(project, rule)) count++;
  if (count === 0) throw new Error(`There is no approval ${rule}${args.all ? '' : ' in this folder'}`);
  return printAndExit(args.all ? `Removed ${rule} from ${count} folders.\n` : `Removed ${rule}.\n`);
}
