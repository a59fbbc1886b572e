import { version } from '../protocol/generated/version.ts';
import { checkContradictions } from './contradictions.ts';
import { type Arguments, PiFailure, UnknownWord, UsageError } from './flags.ts';
import { parseFlags } from './parse-flags.ts';
import { rpc } from './rpc.ts';
import { watchStdout } from './stdout-failure.ts';

/** The commands that have to do with servers. */
const SERVER = /^(?:serve|attach|token)$/;

/** Runs the command line and answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const unwritten = watchStdout();
  const code = await outcome(argv);
  const failure = await unwritten();
  return failure ? complain(`tau: Could not write to stdout: ${failure.message}`, code || 1) : code;
}

async function outcome(argv: readonly string[]): Promise<number> {
  try {
    return await run(parseFlags(argv), argv[0]);
  } catch (error) {
    if (error instanceof UsageError) {
      return complain(`tau: ${error.message}${await hint(error)} (see ${pageFor(argv[0])})`, 2);
    }
    if (error instanceof PiFailure) return complain(error.message, 1);
    throw error;
  }
}

async function run(args: Arguments, first: string | undefined): Promise<number> {
  if (args.version) return (await import('./say.ts')).say(`${version}\n`);
  if (args.help) return (await import('./help.ts')).help(args.positionals);
  if (isOfServer(args, first)) (await import('./server-flags.ts')).checkServerFlags(args);
  checkContradictions(args);
  if (args.unknown.size > 0) (await import('./unknown-flags.ts')).checkUnknown(args);
  if (args['print-system-prompt']) return (await import('./show-system-prompt.ts')).showSystemPrompt(args);
  if (args.export !== undefined) return (await import('./command.ts')).runExport(args, args.export);
  if (args['list-models']) return (await import('./show-models.ts')).showModels(args);
  if (args.mode === 'rpc') return serve(args);
  if (args.print || args.mode) return (await import('./print.ts')).print(args);
  return (await import('./command.ts')).runCommand(args);
}

/** Whether a server is meant: by the very first word, or where nothing makes a prompt of the word. */
function isOfServer(args: Arguments, first: string | undefined): boolean {
  const [word = ''] = args.positionals;
  const isPrompt = args.onlyPrompts || args.print || args.mode || args.export || args['list-models'];
  return SERVER.test(word) && (first === word || !isPrompt);
}

const pageFor = (first = '') => (SERVER.test(first) ? 'tau help server' : 'tau --help');

function serve(args: Arguments): Promise<number> {
  const [word] = args.positionals;
  if (args.files.length > 0) throw new PiFailure('Error: @file arguments are not supported in RPC mode');
  if (word !== undefined)
    throw new UsageError(`--mode rpc takes no ${JSON.stringify(word)}: prompts come over the wire`);
  return rpc(args);
}

async function hint(error: UsageError): Promise<string> {
  if (!(error instanceof UnknownWord)) return '';
  const { nearest } = await import('./nearest.ts');
  const meant = nearest(error.word, error.known);
  return meant === undefined ? error.advice : `, did you mean ${meant}?`;
}

function complain(line: string, code: number): number {
  process.stderr.write(`${line}\n`);
  return code;
}
