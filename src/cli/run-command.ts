import { commands } from './commands.ts';
import { type CliArguments, UnknownWordError, UsageError } from './flags.ts';

/**
 * Does what the first word asks for. Words that are no command but a prompt are answered; without any word there is a
 * conversation, or where there is no terminal an answer.
 */
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

/** A single word may be a command that was misspelt; several, or one behind `--`, are not. */
const isPrompt = (word: string, { onlyPrompts }: CliArguments) => onlyPrompts || /\s/.test(word.trim());

function commandNamed(word: string) {
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (command) return command;
  const advice = `; to ask it: tau -p ${JSON.stringify(word)}`;
  throw new UnknownWordError(`Unknown command: ${word}`, { word, known: Object.keys(commands), advice });
}

/** pi's way to say `tau export <session> [file]`. */
export async function runExport(args: CliArguments, session: string): Promise<number> {
  const { exportPage } = await import('./export.ts');
  return exportPage({ ...args, positionals: ['export', session, ...args.positionals] });
}
