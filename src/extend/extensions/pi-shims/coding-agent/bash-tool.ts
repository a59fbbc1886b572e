import type { Tool } from '../../../../agent/tool.ts';
import { bashTool } from '../../../../agent/tools/bash/bash.ts';
import type { CommandOutput } from '../../../../agent/tools/bash/command-output.ts';
import type { Truncation } from '../../../../agent/tools/truncate.ts';
import { type BashOperations, runBashBackend } from '../../api/bash-backend.ts';
import type { ExtensionEnvironment } from '../extension-environment.ts';

// How often a running command publishes its output.
const BACKEND_UPDATE_MS = 100;

interface Spawn {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface BashToolOptions {
  readonly operations?: BashOperations;
  readonly commandPrefix?: string;
  readonly shellPath?: string;
  readonly spawnHook?: (spawn: Spawn) => Spawn;
}

/** tau's bash tool with the options of an extension. */
export function customBash(cwd: string, shell: ExtensionEnvironment['shell'], options: BashToolOptions = {}): Tool {
  const { operations, spawnHook = (spawn) => spawn } = options;
  const tool = bashTool({ cwd, env: {}, family: '' });
  return {
    ...tool,
    execute: timed(async (call) => {
      const defaults = shell();
      const { commandPrefix = defaults.commandPrefix, shellPath = defaults.shellPath } = options;
      const { command, ...spawned } = spawnHook({ command: String(call.args['command']), cwd, env: defaults.env });
      if (!operations) {
        const local = bashTool({ ...defaults, ...spawned, commandPrefix, shellPath });
        return local.execute({ ...call, args: { ...call.args, command } });
      }
      const script = [commandPrefix, command].filter(Boolean).join('\n');
      const { timeoutFor } = await import('../../../../agent/tools/bash/shell.ts');
      const timeout = timeoutFor(Number(call.args['timeout'] ?? 0), defaults.timeouts);
      const { commandResult: reportOn, commandProgress: shown } = await import(
        '../../../../agent/tools/bash/run-command.ts'
      );
      const progress = throttle(BACKEND_UPDATE_MS, (output: CommandOutput) => call.update(shown(output)));
      const job = {
        ...spawned,
        command: script,
        seconds: timeout.seconds,
        signal: call.signal,
        onOutput: progress.push,
      };
      return reportOn(await runBashBackend(operations, job).finally(progress.stop), timeout);
    }),
  };
}

// Stands for the output of a command that prints nothing.
const NO_OUTPUT = '(no output)';

// Adds the result for programs, as pi's tool returns it. A failed command is an error and has none.
const timed =
  (execute: Tool['execute']): Tool['execute'] =>
  async (call) => {
    const start = performance.now();
    const output = await execute(call);
    const wall_time_seconds = Math.round((performance.now() - start) / 100) / 10;
    const { truncation } = (output.details ?? {}) as { truncation?: Truncation };
    const [block] = output.content;
    const text = block?.type === 'text' && block.text !== NO_OUTPUT ? block.text : '';
    return {
      ...output,
      structuredContent: {
        output: truncation?.content ?? text,
        truncated: truncation?.truncated ?? false,
        exit_code: 0,
        wall_time_seconds,
      },
    };
  };

// Passes on the latest value at most once per interval.
function throttle<T>(ms: number, pass: (latest: T) => void) {
  let next: NodeJS.Timeout | undefined;
  return {
    push: (latest: T) => {
      next ??= setTimeout(() => {
        next = undefined;
        pass(latest);
      }, ms);
    },
    stop: () => clearTimeout(next),
  };
}
