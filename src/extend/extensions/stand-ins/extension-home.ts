import type { ShellOptions } from '../../../agent/tools/shell.ts';

/** What an extension is told of the agent that it runs in. */
export interface ExtensionHome {
  readonly agentDir: string;
  /** How commands are run there. */
  readonly shell: () => ShellOptions;
}
