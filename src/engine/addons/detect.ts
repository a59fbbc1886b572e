import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellOptions } from '../../agent/tools/bash/shell.ts';
import type { ExtensionFactory } from '../../extend/extensions/extension-api.ts';
import type { PreloadedExtensions } from '../../extend/extensions/load/preloaded-extensions.ts';
import { foldersUpToRepository } from '../../extend/repository-folders.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import type { Settings } from '../../store/settings.ts';
import type { ApprovalFlags } from '../approvals/policy.ts';
import type { ChildAgents } from './child-agents.ts';

export interface AddonPaths {
  readonly agentDir: string;
  readonly home: string;
  readonly cwd: string;
  readonly settings: Settings;
  readonly options: AddonOptions;
}

const ADDON_NAMES = ['extensions', 'skills', 'prompts', 'rules', 'mcp.json'];

/** Whether any add-on may exist. Its loader decides whether it counts. */
export function hasAddons({ agentDir, home, cwd, settings, options }: AddonPaths): boolean {
  const { extensions, skills, prompts, packages } = settings;
  const lists = [extensions, skills, prompts, packages, options.extensions, options.skills, options.promptTemplates];
  if (lists.some((list) => list !== undefined && list.length > 0) || hasFactories(options)) return true;
  const folders = [agentDir];
  if (existsSync(join(cwd, '.pi'))) folders.push(join(cwd, '.pi'), join(cwd, '.pi', 'agent'));
  if (folders.some((folder) => ADDON_NAMES.some((name) => existsSync(join(folder, name))))) return true;
  return [home, ...foldersUpToRepository(cwd)].some((folder) => existsSync(join(folder, '.agents', 'skills')));
}

const hasFactories = ({ extensionFactories }: AddonOptions) => (extensionFactories?.size ?? 0) > 0;

/** Whether any extension may exist: extensions may register models that are still unknown. */
export function hasExtensions({ agentDir, cwd, settings, options }: Omit<AddonPaths, 'home'>): boolean {
  const { extensions = [], findExtensions = true } = options;
  if (extensions.length > 0 || hasFactories(options)) return true;
  if (!findExtensions) return false;
  if ([settings.extensions, settings.packages].some((list) => list !== undefined && list.length > 0)) return true;
  return [agentDir, join(cwd, '.pi'), join(cwd, '.pi', 'agent')].some((folder) =>
    existsSync(join(folder, 'extensions')),
  );
}

/** The files of an untrusted project that would be used if it were trusted. */
export function filesNeedingTrust({
  agentDir,
  cwd,
  options,
}: Pick<AddonPaths, 'agentDir' | 'cwd' | 'options'>): string[] {
  // In the home folder, the folder of the project may be the user's own.
  const folders = [join(cwd, '.pi'), join(cwd, '.pi', 'agent')].filter((folder) => folder !== agentDir);
  const { findExtensions = true, mcp = true } = options;
  return folders.filter(existsSync).flatMap((folder) => {
    const files = ['settings.json', ...(mcp ? ['mcp.json'] : []), 'SYSTEM.md', 'APPEND_SYSTEM.md'];
    const found = files.map((name) => join(folder, name)).filter(existsSync);
    if (findExtensions) found.push(...entriesOf(join(folder, 'extensions')));
    return [...found, ...entriesOf(join(folder, 'rules'))];
  });
}

const MAX_LISTED_PER_FOLDER = 100;

function entriesOf(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith('.') && name !== 'node_modules');
    return names.slice(0, MAX_LISTED_PER_FOLDER).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** An agent whose extensions create agents of their own. */
export interface ParentAgent {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: ModelRegistry;
  readonly project: () => { readonly cwd: string; readonly trusted: boolean };
  readonly shell: () => ShellOptions;
  /** The limits of its agents: none has more rights than the run that created it. */
  readonly approvals: () => ApprovalFlags | undefined;
  /** Whether uncaught errors of extensions are reported and do not end the process. */
  readonly ownsProcess: boolean;
  /** The agents that its extensions created. */
  readonly children: ChildAgents;
}

/** Add-ons requested by the caller, beside those found in the folders of the user and the project. */
export interface AddonOptions {
  /** Files and folders of extensions. */
  readonly extensions?: readonly string[] | undefined;
  /** False: only the extensions named above. */
  readonly findExtensions?: boolean | undefined;
  /** Extensions of the embedding program by name; they load first. */
  readonly extensionFactories?: ReadonlyMap<string, ExtensionFactory> | undefined;
  /** Some of the extensions above, loaded already. */
  readonly preloaded?: PreloadedExtensions | undefined;
  /** Gives pi's SDK to extensions, for agents of their own. */
  readonly sdk?: ((parent: ParentAgent) => Promise<object>) | undefined;
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
