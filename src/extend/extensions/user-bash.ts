import { keepTail } from '../../agent/tools/truncate.ts';
import type { BashResult } from '../../protocol/generated/vocabulary.ts';
import type { Callers } from './callers.ts';
import type { BashOperations } from './events.ts';

/** How much of an output is kept while it comes in. */
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;

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
  exitCode: codeOf(exitCode),
  cancelled: cancelled === true,
  truncated: truncated === true,
  fullOutputPath: typeof fullOutputPath === 'string' ? fullOutputPath : null,
});

const codeOf = (exitCode: unknown) => (Number.isInteger(exitCode) ? (exitCode as number) : null);

async function runBy(operations: BashOperations, { command, cwd }: Command, signal: AbortSignal): Promise<BashResult> {
  const decoder = new TextDecoder();
  let text = '';
  let lines = 0;
  let bytes = 0;
  const onData = (data: Uint8Array) => {
    const piece = decoder.decode(data, { stream: true });
    lines += piece.split('\n').length - 1;
    bytes += data.length;
    text = (text + piece).slice(-MAX_OUTPUT_CHARACTERS);
  };
  const ended = await operations.exec(command, cwd, { onData, signal });
  const tail = keepTail(text, { lines: lines + (text === '' || text.endsWith('\n') ? 0 : 1), bytes });
  return {
    output: tail.content,
    exitCode: signal.aborted ? null : codeOf(ended?.exitCode),
    cancelled: signal.aborted,
    truncated: tail.truncated,
    fullOutputPath: null,
  };
}
