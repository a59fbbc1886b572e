import { version } from '../protocol/generated/version.ts';
import { checkContradictions } from './contradictions.ts';
import { type Arguments, PiFailure, UnknownWord, UsageError } from './flags.ts';
import { parseFlags } from './parse-flags.ts';
import { rpc } from './rpc.ts';
import { watchStdout } from './stdout-failure.ts';

/** Runs the command line and answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const unwritten = watchStdout();
  const code = await outcome(argv);
  const failure = await unwritten();
  return failure ? complain(`tau: Could not write to stdout: ${failure.message}`, code || 1) : code;
}

async function outcome(argv: readonly string[]): Promise<number> {
  try {
    return await run(parseFlags(argv));
  } catch (error) {
    if (error instanceof UsageError) return complain(`tau: ${error.message}${await hint(error)} (see tau --help)`, 2);
    if (error instanceof PiFailure) return complain(error.message, 1);
    throw error;
  }
}

async function run(args: Arguments): Promise<number> {
  if (args.version) return (await import('./say.ts')).say(`${version}\n`);
  if (args.help) return (await import('./help.ts')).help(args.positionals);
  checkContradictions(args);
  if (args.unknown.size > 0) (await import('./unknown-flags.ts')).checkUnknown(args);
  if (args['print-system-prompt']) return (await import('./show-system-prompt.ts')).showSystemPrompt(args);
  if (args.export !== undefined) return (await import('./command.ts')).runExport(args, args.export);
  if (args['list-models']) return (await import('./show-models.ts')).showModels(args);
  if (args.mode === 'rpc') return serve(args);
  if (args.print || args.mode) return (await import('./print.ts')).print(args);
  return (await import('./command.ts')).runCommand(args);
}

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
