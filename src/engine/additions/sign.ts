import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { foldersUpToRepository } from '../../extend/repository-folders.ts';
import type { Settings } from '../../store/settings.ts';
import type { AdditionWishes } from './wishes.ts';

export interface Surroundings {
  readonly agentDir: string;
  readonly home: string;
  readonly cwd: string;
  readonly settings: Settings;
  readonly wishes: AdditionWishes;
}

const NAMES = ['extensions', 'skills', 'prompts', 'rules', 'mcp.json'];

/** Whether there is any sign of something that somebody added; whether it counts is found out by whoever reads it. */
export function isAnythingAdded({ agentDir, home, cwd, settings, wishes }: Surroundings): boolean {
  const { extensions, skills, prompts, packages } = settings;
  const named = [extensions, skills, prompts, packages, wishes.extensions, wishes.skills, wishes.promptTemplates];
  if (named.some((list) => list !== undefined && list.length > 0) || hasFactories(wishes)) return true;
  const folders = [agentDir];
  if (existsSync(join(cwd, '.pi'))) folders.push(join(cwd, '.pi'), join(cwd, '.pi', 'agent'));
  if (folders.some((folder) => NAMES.some((name) => existsSync(join(folder, name))))) return true;
  return [home, ...foldersUpToRepository(cwd)].some((folder) => existsSync(join(folder, '.agents', 'skills')));
}

const hasFactories = ({ extensionFactories }: AdditionWishes) => (extensionFactories?.size ?? 0) > 0;

/** Whether there is any sign of extensions: they may bring models that nobody knows yet. */
export function areExtensionsAdded({ agentDir, cwd, settings, wishes }: Omit<Surroundings, 'home'>): boolean {
  const { extensions = [], findExtensions = true } = wishes;
  if (extensions.length > 0 || hasFactories(wishes)) return true;
  if (!findExtensions) return false;
  if ([settings.extensions, settings.packages].some((list) => list !== undefined && list.length > 0)) return true;
  return [agentDir, join(cwd, '.pi'), join(cwd, '.pi', 'agent')].some((folder) =>
    existsSync(join(folder, 'extensions')),
  );
}
