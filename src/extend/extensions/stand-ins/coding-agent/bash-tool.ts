import type { Tool, ToolInvocation, ToolOutput } from '../../../../agent/tool.ts';
import { bashTool } from '../../../../agent/tools/bash.ts';
import type { ExtensionHome } from '../extension-home.ts';
import type { BashOperations } from './operations.ts';

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
      return runBy(operations, { ...place, command: whole }, call);
    },
  };
}

async function runBy(
  { exec }: BashOperations,
  { command, cwd, env }: Spawn,
  { args, signal, update }: ToolInvocation,
): Promise<ToolOutput> {
  const [{ CommandOutput }, { reportOn, shown }] = await Promise.all([
    import('../../../../agent/tools/command-output.ts'),
    import('../../../../agent/tools/shell-command.ts'),
  ]);
  const output = new CommandOutput();
  let nextUpdate: NodeJS.Timeout | undefined;
  const show = () => {
    nextUpdate = undefined;
    update(shown(output));
  };
  const onData = (data: Buffer) => {
    output.add(Buffer.from(data));
    nextUpdate ??= setTimeout(show, UPDATE_MS);
  };
  const seconds = Number(args['timeout'] ?? 0);
  const ending = await exec(command, cwd, { onData, signal, env, ...(seconds > 0 ? { timeout: seconds } : {}) })
    .then(({ exitCode }) => ({ exit: { code: exitCode, signal: null }, end: 'exited' as const }))
    .catch((error: unknown) => stoppedBy(error))
    .finally(() => clearTimeout(nextUpdate));
  output.end();
  const tail = output.tail();
  output.log?.keep();
  return reportOn({ output, tail, ...ending }, seconds);
}

/** Operations tell of an abort and of a timeout by throwing these words. */
function stoppedBy(error: unknown) {
  const failure = error instanceof Error ? error : new Error(String(error));
  const end =
    failure.message === 'aborted' ? 'aborted' : failure.message.startsWith('timeout:') ? 'timed out' : 'exited';
  return { exit: { code: null, signal: null, error: failure }, end } as const;
}
