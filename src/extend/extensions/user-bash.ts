import type { BashResult } from '../../protocol/generated/vocabulary.ts';
import { bashResult } from '../../session/shell-commands.ts';
import type { Callers } from './callers.ts';
import type { BashOperations } from './operations.ts';
import { runOperations } from './run-operations.ts';

interface Command {
  readonly command: string;
  readonly cwd: string;
  readonly excludeFromContext: boolean;
}

/** The first extension that answers a client's command stands for the shell. */
export async function userBash(
  callers: Callers,
  command: Command,
  signal: AbortSignal,
): Promise<BashResult | undefined> {
  for await (const { result, operations } of callers.answers({ type: 'user_bash', ...command })) {
    if (result) return plainResult(result);
    if (operations) return runBy(operations, command, signal);
  }
  return undefined;
}

const plainResult = ({ output, exitCode, cancelled, truncated, fullOutputPath }: Partial<BashResult>): BashResult => ({
  output: String(output ?? ''),
  exitCode: Number.isInteger(exitCode) ? (exitCode ?? null) : null,
  cancelled: cancelled === true,
  truncated: truncated === true,
  fullOutputPath: typeof fullOutputPath === 'string' ? fullOutputPath : null,
});

async function runBy(operations: BashOperations, command: Command, signal: AbortSignal): Promise<BashResult> {
  const run = await runOperations(operations, { ...command, seconds: 0, signal });
  if (run.exit.error && run.end === 'exited') throw run.exit.error;
  return bashResult(run);
}
