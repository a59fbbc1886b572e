import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../tool.ts';
import type { CommandOutput } from './command-output.ts';
import type { OutputLog } from './output-log.ts';
import { runShell, type ShellOptions, type ShellRun } from './shell.ts';
import { sizeOf, type Truncation } from './truncate.ts';

/** Runs a command for the model: what it printed, and what became of it. */
export async function runCommand(options: ShellOptions, { args, signal, update }: ToolInvocation): Promise<ToolOutput> {
  const seconds = Number(args['timeout'] ?? 0);
  const run = await runShell(options, {
    command: String(args['command']),
    seconds,
    signal,
    onStart: () => update({ content: [], details: { truncation: null, fullOutputPath: null } }),
    onOutput: (output) => update(shown(output)),
  });
  return reportOn(run, seconds);
}

/** What the model is told of a command that has ended. Throws for one that failed. */
export const reportOn = (run: ShellRun, seconds: number): ToolOutput => finished(run, trouble(run, seconds));

function trouble({ exit, end }: ShellRun, seconds: number): string | undefined {
  if (end === 'aborted') return 'Command aborted';
  if (end === 'timed out') return `Command timed out after ${seconds} seconds`;
  if (exit.error) return exit.error.message;
  if (exit.signal) return `Command was killed by ${exit.signal}`;
  return exit.code === 0 ? undefined : `Command exited with code ${exit.code}`;
}

function finished({ output, tail }: ShellRun, problem: string | undefined): ToolOutput {
  const { log } = output;
  const text = [tail.content, log ? cutNotice(tail, log, output.lastLineBytes) : ''].filter(Boolean).join('\n\n');
  const details = log ? { truncation: tail, fullOutputPath: log.path ?? null } : undefined;
  if (problem)
    throw new ToolError({ ...textOutput([text, problem].filter(Boolean).join('\n\n')), details: details ?? {} });
  return { ...textOutput(text || '(no output)'), ...(details ? { details } : {}) };
}

/** What is shown of a command that still runs. */
export function shown(output: CommandOutput): ToolOutput {
  const tail = output.tail();
  const details = { truncation: tail.truncated ? tail : null, fullOutputPath: output.log?.path ?? null };
  return { ...textOutput(tail.content), details };
}

function cutNotice(tail: Truncation, log: OutputLog, lastLineBytes: number): string {
  const first = tail.totalLines - tail.outputLines + 1;
  const limit = tail.truncatedBy === 'bytes' ? ` (${sizeOf(tail.maxBytes)} limit)` : '';
  const shown = tail.lastLinePartial
    ? `last ${sizeOf(tail.outputBytes)} of line ${tail.totalLines} (line is ${sizeOf(lastLineBytes)})`
    : `lines ${first}-${tail.totalLines} of ${tail.totalLines}${limit}`;
  return `[Showing ${shown}. ${whereabouts(log)}]`;
}

function whereabouts({ path, loss, cutAt }: OutputLog): string {
  if (path === undefined) return `The full output could not be kept: ${loss}`;
  return cutAt === undefined ? `Full output: ${path}` : `First ${sizeOf(cutAt)} of the output: ${path}`;
}
