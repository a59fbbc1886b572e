import { Refusal } from '../protocol/errors.ts';
import type { BashResult as StoredResult } from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import { logFirstError } from './session-events.ts';

/** The result of a shell command beside the conversation. */
export interface BashResult {
  output: string;
  /** Undefined if the command was stopped. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string | undefined;
}

export interface BashOptions {
  /** Keeps the command out of the model context. */
  readonly excludeFromContext?: boolean | undefined;
  /** Copied into `bash_execution_update`. */
  readonly id?: string | undefined;
  /** Rejected: tau runs commands itself; an extension may handle `user_bash`. */
  readonly operations?: unknown;
}

/** Runs a shell command to its end. */
export async function executeBash(
  { agent }: EmbedContext,
  command: string,
  onChunk: ((chunk: string) => void) | undefined,
  { excludeFromContext = false, id, operations }: BashOptions,
): Promise<BashResult> {
  if (operations !== undefined)
    throw new Refusal('not_supported', 'tau runs commands itself: operations are not taken');
  if (typeof command !== 'string') throw new Refusal('invalid_params', 'Invalid parameters: command must be a string');
  const reportChunk = logFirstError(onChunk ?? (() => {}));
  const { exitCode, fullOutputPath, ...result } = await agent.session.shell.run({
    command,
    excludeFromContext,
    canReceive: () => true,
    onText: (delta) => {
      if (delta === '') return;
      reportChunk(delta);
      agent.broadcast.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
    },
  });
  return { ...result, exitCode: exitCode ?? undefined, fullOutputPath: fullOutputPath ?? undefined };
}

/** Adds the result of a command that the program ran itself. */
export function recordBashResult(
  { agent }: EmbedContext,
  command: string,
  { output, exitCode, cancelled, truncated, fullOutputPath }: BashResult,
  { excludeFromContext = false }: BashOptions,
): void {
  const result: StoredResult = {
    output,
    exitCode: exitCode ?? null,
    cancelled,
    truncated,
    fullOutputPath: fullOutputPath ?? null,
  };
  agent.session.shell.record({ command, excludeFromContext }, result);
}
