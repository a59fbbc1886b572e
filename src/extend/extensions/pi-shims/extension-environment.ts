import type { ShellOptions } from '../../../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';

/** Loads the exports of pi's SDK: sessions, settings, models and agents. */
export type SdkLoader = () => Promise<object>;

/** The parts of the agent that the shims use. */
export interface ExtensionEnvironment {
  readonly agentDir: string;
  readonly shell: () => ShellOptions;
  readonly registry?: ModelRegistry;
  readonly sdk?: SdkLoader;
}
