import type { ExtensionFactory } from '../../extend/extensions/extension-api.ts';

/** What whoever opens the agent wants added to it, beside what is found in the folders of the user and the project. */
export interface AddonOptions {
  /** Files and folders of extensions. */
  readonly extensions?: readonly string[] | undefined;
  /** False: only those that are named above. */
  readonly findExtensions?: boolean | undefined;
  /** Extensions that are part of this program, each by what it is called. They come before all others. */
  readonly extensionFactories?: ReadonlyMap<string, ExtensionFactory> | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly findSkills?: boolean | undefined;
  readonly promptTemplates?: readonly string[] | undefined;
  readonly findPromptTemplates?: boolean | undefined;
  /** False: mcp.json is left alone. */
  readonly mcp?: boolean | undefined;
  /** Flags that tau does not know, for the extensions. */
  readonly flags?: ReadonlyMap<string, string | true> | undefined;
  /** The process is tau's own: what extensions leave uncaught is told of, and does not end it. */
  readonly ownsProcess?: boolean | undefined;
  /** Let the settings files decide how todos work. */
  readonly inheritWorkflowSettings?: boolean | undefined;
}
