import type { Tool } from '../../tool.ts';
import { formatBytes, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from '../truncate.ts';
import type { ShellOptions } from './shell.ts';

// The user decides about each command that leaves the sandbox.
const LEAVE_PARAMETERS = {
  outside: {
    type: 'boolean',
    description: 'True: run it outside of the sandbox, once the user allows that. Only if it cannot work inside',
  },
  why: { type: 'string', description: 'With outside: the reason, for the user' },
};

/** Runs a shell command in a process group of its own; nothing of it outlives an abort or the timeout. */
export const bashTool = (options: ShellOptions): Tool => ({
  name: 'bash',
  description: `Run a bash command in the working directory. Answers what it printed, stdout and stderr together, the last ${MAX_OUTPUT_LINES} lines or ${formatBytes(MAX_OUTPUT_BYTES)} of it.`,
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command' },
      timeout: { type: 'number', minimum: 0, description: 'Seconds after which it is killed' },
      ...(options.isConfined ? LEAVE_PARAMETERS : {}),
    },
    required: ['command'],
  },
  execute: async (invocation) => {
    const { runCommand } = await import('./run-command.ts');
    return runCommand(options, invocation);
  },
});
