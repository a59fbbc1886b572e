import type { CommandSandbox } from '../../permission.ts';
import { ToolError, type ToolInvocation, type ToolOutput, type ToolUpdate, textOutput } from '../../tool.ts';
import { type CommandOutput, truncationNotice } from './command-output.ts';
import { type CommandTimeout, runShell, type ShellOptions, type ShellRun, timeoutFor, timeoutText } from './shell.ts';

const NOT_TRUNCATED = { truncation: null, fullOutputPath: null };

/** Runs a command for the model and returns its output and exit status. */
export async function runCommand(options: ShellOptions, invocation: ToolInvocation): Promise<ToolOutput> {
  const { args, signal, update, permission } = invocation;
  const timeout = timeoutFor(Number(args['timeout'] ?? 0), options.timeouts);
  const run = await runShell(options, {
    command: String(args['command']),
    timeoutSeconds: timeout.seconds,
    signal,
    sandbox: permission?.sandbox,
    onStart: () => update({ content: [], details: NOT_TRUNCATED, added: { text: '', offset: 0 } }),
    onOutput: (output) => update(withNewText(output)),
  });
  return commandResult(run, timeout, options.isConfined ? refusalHint(run, permission?.sandbox) : undefined);
}

/** Result of an ended command for the model. Throws if the command failed. */
export function commandResult(run: ShellRun, timeout: CommandTimeout, hint?: string): ToolOutput {
  const failure = failureText(run, timeout);
  return buildResult(run, failure && [failure, hint].filter(Boolean).join('\n\n'));
}

// Messages of programs whose access a sandbox refuses.
const REFUSALS =
  /read-only file system|operation not permitted|permission denied|could not resolve host|network is unreachable|name or service not known|ENOTFOUND|EAI_AGAIN|EROFS|EPERM|x-proxy-error|403 Forbidden|(response|error:?) 403/i;

/** Names the way out if a command may have failed because of the sandbox. */
function refusalHint({ exit, tail }: ShellRun, sandbox: CommandSandbox | undefined): string | undefined {
  if (!sandbox || exit.code === 0 || !REFUSALS.test(tail.content)) return undefined;
  return `The command ran in a sandbox: ${sandbox.reach}. If it needs more, call bash again with outside: true and a reason: the user decides.`;
}

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
