import { dirname, join, resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { foldersUpToRepository } from '../repository-folders.ts';

export interface ResourceOptions {
  readonly agentDir: string;
  readonly home: string;
  readonly cwd: string;
  /**
   * Files and folders that were named, by settings, flags or extensions. With a `-` in front a path is left out, with a
   * `!` what a pattern fits, and with a `+` a path is used whatever a pattern says.
   */
  readonly skillPaths: readonly string[];
  readonly promptPaths: readonly string[];
  /** False: only what is named. */
  readonly findSkills: boolean;
  readonly findTemplates: boolean;
}

/** A file or a folder in which to look. */
export interface ResourceRoot {
  readonly path: string;
  readonly location: 'user' | 'project' | 'path';
  /** The folder of the user or the project that it belongs to; undefined where the path was named. */
  readonly baseDir?: string;
}

/** Where skills are looked for; of two with one name the first is used. */
export function skillRoots({ agentDir, home, cwd, ...rest }: ResourceOptions): ResourceRoot[] {
  const found = [
    rootIn('user', agentDir, 'skills'),
    rootIn('user', join(home, '.agents'), 'skills'),
    ...projectFolders(cwd).map((folder) => rootIn('project', folder, 'skills')),
    ...foldersUpToRepository(cwd).map((folder) => rootIn('project', join(folder, '.agents'), 'skills')),
  ];
  return [...(rest.findSkills ? found : []), ...namedRoots(rest.skillPaths, { home, cwd })];
}

/** The same for prompt templates. */
export function templateRoots({ agentDir, home, cwd, ...rest }: ResourceOptions): ResourceRoot[] {
  const found = [
    rootIn('user', agentDir, 'prompts'),
    ...projectFolders(cwd).map((folder) => rootIn('project', folder, 'prompts')),
  ];
  return [...(rest.findTemplates ? found : []), ...namedRoots(rest.promptPaths, { home, cwd })];
}

/** A path as people write it. */
export const resolvePath = (path: string, { home, cwd }: Pick<ResourceOptions, 'home' | 'cwd'>) =>
  resolve(cwd, expandHome(path, home));

/** How clients are told where a command comes from, in the older and the newer form. */
export function sourceFields(path: string, { location, ...root }: ResourceRoot) {
  const baseDir = root.baseDir ?? (root.path === path ? dirname(path) : root.path);
  const { source, scope } = SOURCES[location];
  return { location, path, sourceInfo: { path, source, scope, origin: 'top-level', baseDir } } as const;
}

const SOURCES = {
  user: { source: 'auto', scope: 'user' },
  project: { source: 'auto', scope: 'project' },
  path: { source: 'local', scope: 'temporary' },
} as const;

const rootIn = (location: 'user' | 'project', baseDir: string, name: string): ResourceRoot => ({
  path: join(baseDir, name),
  location,
  baseDir,
});

const projectFolders = (cwd: string) => [join(cwd, '.pi'), join(cwd, '.pi', 'agent')];

const namedRoots = (paths: readonly string[], from: Pick<ResourceOptions, 'home' | 'cwd'>): ResourceRoot[] =>
  paths
    .filter((path) => !/^[!-]/.test(path))
    .map((path) => ({ path: resolvePath(path.replace(/^\+/, ''), from), location: 'path' }));
