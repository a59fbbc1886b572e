import { ToolError, type ToolInvocation, type ToolOutput, type ToolUpdate, textOutput } from '../../tool.ts';
import { type CommandOutput, truncationNotice } from './command-output.ts';
import { type CommandTimeout, runShell, type ShellOptions, type ShellRun, timeoutFor, timeoutText } from './shell.ts';

const NOT_TRUNCATED = { truncation: null, fullOutputPath: null };

/** Runs a command for the model and returns its output and exit status. */
export async function runCommand(options: ShellOptions, { args, signal, update }: ToolInvocation): Promise<ToolOutput> {
  const timeout = timeoutFor(Number(args['timeout'] ?? 0), options.timeouts);
  const run = await runShell(options, {
    command: String(args['command']),
    timeoutSeconds: timeout.seconds,
    signal,
    onStart: () => update({ content: [], details: NOT_TRUNCATED, added: { text: '', offset: 0 } }),
    onOutput: (output) => update(withNewText(output)),
  });
  return commandResult(run, timeout);
}

/** Result of an ended command for the model. Throws if the command failed. */
export const commandResult = (run: ShellRun, timeout: CommandTimeout): ToolOutput =>
  buildResult(run, failureText(run, timeout));

function failureText({ exit, end }: ShellRun, timeout: CommandTimeout): string | undefined {
  if (end === 'aborted') return 'Command aborted';
  if (end === 'timed out') return timeoutText(timeout);
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

function withNewText(output: CommandOutput): ToolUpdate {
  const { text, offset } = output.takeNew();
  return { ...commandProgress(output), added: { text, offset } };
}

/** Output of a running command. */
export function commandProgress(output: CommandOutput): ToolOutput {
  const tail = output.tail();
  const details = { truncation: tail.truncated ? tail : null, fullOutputPath: output.log?.path ?? null };
  return { ...textOutput(tail.content), details };
}
