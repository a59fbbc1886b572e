import { openModels } from '../engine/models/open-models.ts';
import { warn } from '../system/terminal-text.ts';
import { commands } from './commands.ts';
import { cliPaths, modelOptionsOf } from './engine-options.ts';
import { type CliArguments, UnknownWordError, UsageError } from './flags/flags.ts';
import { openAgentEngine } from './lifetime.ts';
import { modelList } from './list-models.ts';
import { printAndExit } from './stdio.ts';

/** Runs the command of the first word. Several words are a prompt; no word starts a chat on a terminal. */
export async function runCommand(args: CliArguments): Promise<number> {
  const [word, ...others] = args.positionals;
  if (word === undefined ? args.files.length > 0 || !process.stdin.isTTY : isPrompt(word, args)) {
    return (await import('./print/print.ts')).print(args);
  }
  if (args.files.length > 0) throw new UsageError(`@${args.files[0]} goes with a prompt`);
  const command = commandNamed(word ?? 'chat');
  if (others.length > 0 && !command.takes && !command.subcommands) {
    throw new UsageError(`tau ${word} takes no ${JSON.stringify(others[0])}`);
  }
  return command.run(args);
}

/** A single word may be a misspelt command; several words, or words behind `--`, are a prompt. */
const isPrompt = (word: string, { onlyPrompts }: CliArguments) => onlyPrompts || /\s/.test(word.trim());

function commandNamed(word: string) {
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (command) return command;
  const advice = `; to send it as a prompt: tau -p ${JSON.stringify(word)}`;
  throw new UnknownWordError(`Unknown command: ${word}`, { word, known: Object.keys(commands), advice });
}

/** `--export`, pi's form of `tau export <session> [file]`. */
export async function runExport(args: CliArguments, session: string): Promise<number> {
  const { exportPage } = await import('./sessions/export.ts');
  return exportPage({ ...args, positionals: ['export', session, ...args.positionals] });
}

/** `--list-models`: prints the usable models, including those of local servers. */
export async function printModels(args: CliArguments): Promise<number> {
  const { root, project } = cliPaths(args);
  const { registry } = await openModels({ agentDir: root, env: process.env, project, ...modelOptionsOf(args) });
  await registry.discoverLocalModels();
  for (const problem of registry.problems) warn(problem);
  return printAndExit(modelList(registry.available(), args.positionals.join(' ') || undefined));
}

/** `--print-system-prompt`: prints the system prompt of a run. */
export async function printSystemPrompt(args: CliArguments): Promise<number> {
  const engine = await openAgentEngine(args);
  if (!engine) return 1;
  const prompt = await engine.systemPrompt();
  await engine.close();
  return printAndExit(`${prompt}\n`);
}
