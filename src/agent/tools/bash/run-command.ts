import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../../tool.ts';
import { type CommandOutput, truncationNotice } from './command-output.ts';
import { runShell, type ShellOptions, type ShellRun } from './shell.ts';

/** Runs a command for the model and returns its output and exit status. */
export async function runCommand(options: ShellOptions, { args, signal, update }: ToolInvocation): Promise<ToolOutput> {
  const timeoutSeconds = Number(args['timeout'] ?? 0);
  const run = await runShell(options, {
    command: String(args['command']),
    timeoutSeconds,
    signal,
    onStart: () => update({ content: [], details: { truncation: null, fullOutputPath: null } }),
    onOutput: (output) => update(commandProgress(output)),
  });
  return commandResult(run, timeoutSeconds);
}

/** Result of an ended command for the model. Throws if the command failed. */
export const commandResult = (run: ShellRun, seconds: number): ToolOutput =>
  buildResult(run, failureText(run, seconds));

function failureText({ exit, end }: ShellRun, seconds: number): string | undefined {
  if (end === 'aborted') return 'Command aborted';
  if (end === 'timed out') return `Command timed out after ${seconds} seconds`;
  if (exit.error) return exit.error.message;
  if (exit.signal) return `Command was killed by ${exit.signal}`;
  return exit.code === 0 ? undefined : `Command exited with code ${exit.code}`;
}

function buildResult({ output, tail }: ShellRun, problem: string | undefined): ToolOutput {
  const { log } = output;
  const text = [tail.content, truncationNotice(output, tail)].filter(Boolean).join('\n\n');
  const details = log ? { truncation: tail, fullOutputPath: log.path ?? null } : undefined;
  if (problem)
    throw new ToolError({ ...textOutput([text, problem].filter(Boolean).join('\n\n')), details: details ?? {} });
  return { ...textOutput(text || '(no output)'), ...(details ? { details } : {}) };
}

/** Output of a running command. */
export function commandProgress(output: CommandOutput): ToolOutput {
  const tail = output.tail();
  const details = { truncation: tail.truncated ? tail : null, fullOutputPath: output.log?.path ?? null };
  return { ...textOutput(tail.content), details };
}
