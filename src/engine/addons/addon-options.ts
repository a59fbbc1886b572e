import type { ExtensionFactory } from '../../extend/extensions/extension-api.ts';

/** Add-ons requested by the caller, beside those found in the folders of the user and the project. */
export interface AddonOptions {
  /** Files and folders of extensions. */
  readonly extensions?: readonly string[] | undefined;
  /** False: only the extensions named above. */
  readonly findExtensions?: boolean | undefined;
  /** Extensions of the embedding program by name; they load first. */
  readonly extensionFactories?: ReadonlyMap<string, ExtensionFactory> | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly findSkills?: boolean | undefined;
  readonly promptTemplates?: readonly string[] | undefined;
  readonly findPromptTemplates?: boolean | undefined;
  /** False: mcp.json is not read. */
  readonly mcp?: boolean | undefined;
  /** Flags unknown to tau, for the extensions. */
  readonly flags?: ReadonlyMap<string, string | true> | undefined;
  /** True: the process belongs to tau, so that uncaught errors of extensions are reported and do not end it. */
  readonly ownsProcess?: boolean | undefined;
  /** True: the settings files control todos. */
  readonly inheritWorkflowSettings?: boolean | undefined;
}
