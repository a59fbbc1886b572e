import { version } from '../protocol/generated/version.ts';
import { type Arguments, parseFlags, UsageError } from './flags.ts';
import { rpc } from './rpc.ts';

/** Runs the command line and answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let args: Arguments;
  try {
    args = parseFlags(argv);
    if (args.version) return say(`${version}\n`);
    if (args.help || args.positionals[0] === 'help') return say((await import('./help.ts')).help());
    return await run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`tau: ${error.message} (see tau --help)\n`);
    return 2;
  }
}

async function run(args: Arguments): Promise<number> {
  const [command, ...others] = args.positionals;
  if (args.mode === 'rpc') {
    if (command?.startsWith('@')) {
      process.stderr.write('Error: @file arguments are not supported in RPC mode\n');
      return 1;
    }
    if (command !== undefined)
      throw new UsageError(`--mode rpc takes no ${JSON.stringify(command)}: prompts come over the wire`);
    return rpc(args);
  }
  if (args.socket) throw new UsageError('--socket goes with --mode rpc');
  if (command === undefined && !process.stdin.isTTY) {
    throw new UsageError('Say what to do: tau chat, or tau --mode rpc');
  }
  const { commands } = await import('./commands.ts');
  const chosen = commands[command ?? 'chat'];
  if (!chosen) throw new UsageError(`Unknown command: ${command}`);
  if (others.length > 0 && !chosen.takes) throw new UsageError(`tau ${command} takes no ${JSON.stringify(others[0])}`);
  return chosen.run(args);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}
