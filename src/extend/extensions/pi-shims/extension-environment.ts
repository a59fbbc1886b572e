import type { ShellOptions } from '../../../agent/tools/shell.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';

/** What an extension is told of the agent that it runs in. */
export interface ExtensionEnvironment {
  readonly agentDir: string;
  /** How commands are run there. */
  readonly shell: () => ShellOptions;
  /** The models that it knows. */
  readonly registry?: ModelRegistry;
}
