import type { BashResult } from '../../../protocol/generated/vocabulary.ts';
import { bashResult } from '../../../session/shell-commands.ts';
import { type BashOperations, runBashBackend } from '../api/bash-backend.ts';
import type { HandlerRunner } from './call-handlers.ts';

interface BashCommand {
  readonly command: string;
  readonly cwd: string;
  readonly excludeFromContext: boolean;
}

/** Runs a client's bash command in the first extension that returns a result or a backend for it. */
export async function userBash(
  runner: HandlerRunner,
  command: BashCommand,
  signal: AbortSignal,
): Promise<BashResult | undefined> {
  for await (const { result, operations } of runner.results({ type: 'user_bash', ...command })) {
    if (result) return validResult(result);
    if (operations) return runBackend(operations, command, signal);
  }
  return undefined;
}

const validResult = ({ output, exitCode, cancelled, truncated, fullOutputPath }: Partial<BashResult>): BashResult => ({
  output: String(output ?? ''),
  exitCode: Number.isInteger(exitCode) ? (exitCode ?? null) : null,
  cancelled: cancelled === true,
  truncated: truncated === true,
  fullOutputPath: typeof fullOutputPath === 'string' ? fullOutputPath : null,
});

async function runBackend(operations: BashOperations, command: BashCommand, signal: AbortSignal): Promise<BashResult> {
  const run = await runBashBackend(operations, { ...command, seconds: 0, signal });
  if (run.exit.error && run.end === 'exited') throw run.exit.error;
  return bashResult(run);
}
