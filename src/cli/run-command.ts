import { commands } from './commands.ts';
import { type CliArguments, UnknownWordError, UsageError } from './flags.ts';

/** Runs the command of the first word. Several words are a prompt; no word starts a chat on a terminal. */
export async function runCommand(args: CliArguments): Promise<number> {
  const [word, ...others] = args.positionals;
  if (word === undefined ? args.files.length > 0 || !process.stdin.isTTY : isPrompt(word, args)) {
    return (await import('./print.ts')).print(args);
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
  const advice = `; to ask it: tau -p ${JSON.stringify(word)}`;
  throw new UnknownWordError(`Unknown command: ${word}`, { word, known: Object.keys(commands), advice });
}

/** `--export`, pi's form of `tau export <session> [file]`. */
export async function runExport(args: CliArguments, session: string): Promise<number> {
  const { exportPage } = await import('./export.ts');
  return exportPage({ ...args, positionals: ['export', session, ...args.positionals] });
}
