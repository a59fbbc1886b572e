import type { ShellOptions } from '../../../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';

/** The parts of the agent that the shims use. */
export interface ExtensionEnvironment {
  readonly agentDir: string;
  readonly shell: () => ShellOptions;
  readonly registry?: ModelRegistry;
}
