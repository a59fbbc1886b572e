import type { ShellOptions } from '../../../agent/tools/bash/shell.ts';
import type { ExtensionHost } from '../host.ts';

/** Runs programs for `pi.exec`, in the folder and with the environment of the shell. */
export const execWith =
  (shell: () => ShellOptions): ExtensionHost['exec'] =>
  async (command, args, options) => {
    const { runProgram } = await import('../../../system/processes/run-program.ts');
    const { env, family, cwd } = shell();
    return runProgram({ command, args, env, family, ...options, cwd: options.cwd ?? cwd });
  };
