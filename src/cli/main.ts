import { terminalText } from '../system/terminal-text.ts';
import { checkUnknownFlags, didYouMean } from './flags/did-you-mean.ts';
import { checkConflicts } from './flags/flag-conflicts.ts';
import { type CliArguments, PiError, UnknownWordError, UsageError } from './flags/flags.ts';
import { parseFlags } from './flags/parse-flags.ts';
import { checkServerFlags } from './flags/server-flags.ts';
import { takeProgramName, versionOf } from './program-name.ts';
import { rpc } from './rpc.ts';
import { printAndExit, watchStdout } from './stdio.ts';

const SERVER_COMMAND = /^(?:serve|attach|token|cluster)$/;

/** Runs the command line and returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const stdoutError = watchStdout();
  const name = takeProgramName(process.env);
  const code = await runAndReport(argv, name);
  const failure = await stdoutError();
  return failure ? printError(`tau: Could not write to stdout: ${failure.message}`, code || 1) : code;
}

async function runAndReport(argv: readonly string[], name: string): Promise<number> {
  try {
    const args = parseFlags(argv);
    if (args.version) return await printAndExit(`${versionOf(name)}\n`);
    return await run(args, argv[0]);
  } catch (error) {
    if (error instanceof UsageError) {
      return printError(`tau: ${error.message}${hint(error)} (see ${helpPageFor(argv[0])})`, 2);
    }
    if (error instanceof PiError) return printError(error.message, 1);
    throw error;
  }
}

async function run(args: CliArguments, first: string | undefined): Promise<number> {
  if (args.help) return (await import('./help/help.ts')).help(args.positionals);
  if (isServerCommand(args, first)) checkServerFlags(args);
  checkConflicts(args);
  if (args.unknown.size > 0) checkUnknownFlags(args);
  if (args['print-system-prompt']) return (await import('./run-command.ts')).printSystemPrompt(args);
  if (args.export !== undefined) return (await import('./run-command.ts')).runExport(args, args.export);
  if (args['list-models']) return (await import('./run-command.ts')).printModels(args);
  if (args.mode === 'rpc') return runRpc(args);
  if (args.print || args.mode) return (await import('./print/print.ts')).print(args);
  return (await import('./run-command.ts')).runCommand(args);
}

/** Whether a server command is meant: it comes first, or no flag makes it a prompt. */
function isServerCommand(args: CliArguments, first: string | undefined): boolean {
  const [word = ''] = args.positionals;
  const isPrompt = args.onlyPrompts || args.print || args.mode || args.export || args['list-models'];
  return SERVER_COMMAND.test(word) && (first === word || !isPrompt);
}

// The commands of a cluster have flags that the page about servers does not name.
const helpPageFor = (first = '') =>
  first === 'cluster' ? 'tau help cluster' : SERVER_COMMAND.test(first) ? 'tau help server' : 'tau --help';

function runRpc(args: CliArguments): Promise<number> {
  const [word] = args.positionals;
  if (args.files.length > 0) throw new PiError('Error: @file arguments are not supported in RPC mode');
  if (word !== undefined) throw new UsageError(`--mode rpc takes no ${JSON.stringify(word)}: send prompts as commands`);
  return rpc(args);
}

function hint(error: UsageError): string {
  if (!(error instanceof UnknownWordError)) return '';
  const suggestion = didYouMean(error.word, error.known);
  return suggestion === undefined ? error.advice : `, did you mean ${suggestion}?`;
}

function printError(line: string, code: number): number {
  process.stderr.write(`${terminalText(line)}\n`);
  return code;
}
