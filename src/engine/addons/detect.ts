import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { foldersUpToRepository } from '../../extend/repository-folders.ts';
import type { Settings } from '../../store/settings.ts';
import type { AddonOptions } from './addon-options.ts';

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
