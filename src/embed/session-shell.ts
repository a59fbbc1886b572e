import { Refusal } from '../protocol/errors.ts';
import type { BashResult as StoredResult } from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import { logFirstError } from './session-events.ts';

/** What a command came to. */
export interface BashResult {
  output: string;
  /** Undefined for one that was stopped. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string | undefined;
}

export interface BashOptions {
  /** The model is not told of it. */
  readonly excludeFromContext?: boolean | undefined;
  /** Goes along with `bash_execution_update`. */
  readonly id?: string | undefined;
  /** Refused: tau runs commands itself; an extension may answer `user_bash`. */
  readonly operations?: unknown;
}

/** Runs a command beside the conversation, to its end. */
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

/** Puts into the conversation what a command came to that the program has run. */
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
