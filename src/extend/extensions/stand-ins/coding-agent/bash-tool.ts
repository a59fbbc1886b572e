import type { Tool } from '../../../../agent/tool.ts';
import { bashTool } from '../../../../agent/tools/bash.ts';
import type { CommandOutput } from '../../../../agent/tools/command-output.ts';
import type { BashOperations } from '../../operations.ts';
import { runOperations } from '../../run-operations.ts';
import type { ExtensionHome } from '../extension-home.ts';

/** How often a command shows what it printed. */
const UPDATE_MS = 100;

/** A command on its way to the shell. */
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

/** tau's bash, with the changes that an extension makes to it. */
export function bashWith(cwd: string, shell: ExtensionHome['shell'], options: BashToolOptions = {}): Tool {
  const { operations, spawnHook = (spawn) => spawn } = options;
  const tool = bashTool({ cwd, env: {}, family: '' });
  return {
    ...tool,
    execute: async (call) => {
      const usual = shell();
      const { commandPrefix = usual.commandPrefix, shellPath = usual.shellPath } = options;
      const { command, ...place } = spawnHook({ command: String(call.args['command']), cwd, env: usual.env });
      if (!operations) {
        const local = bashTool({ ...usual, ...place, commandPrefix, shellPath });
        return local.execute({ ...call, args: { ...call.args, command } });
      }
      const whole = [commandPrefix, command].filter(Boolean).join('\n');
      const seconds = Number(call.args['timeout'] ?? 0);
      const { commandResult: reportOn, commandProgress: shown } = await import('../../../../agent/tools/run-command.ts');
      const progress = spaced(UPDATE_MS, (output: CommandOutput) => call.update(shown(output)));
      const job = { ...place, command: whole, seconds, signal: call.signal, onOutput: progress.tell };
      return reportOn(await runOperations(operations, job).finally(progress.stop), seconds);
    },
  };
}

/** Passes on the latest of what it is told, but no more often than this. */
function spaced<T>(ms: number, pass: (latest: T) => void) {
  let next: NodeJS.Timeout | undefined;
  return {
    tell: (latest: T) => {
      next ??= setTimeout(() => {
        next = undefined;
        pass(latest);
      }, ms);
    },
    stop: () => clearTimeout(next),
  };
}
