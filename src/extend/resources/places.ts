import { dirname, join, resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { foldersUpToRepository } from '../repository-folders.ts';

export interface ResourcePlaces {
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
export interface Place {
  readonly path: string;
  readonly location: 'user' | 'project' | 'path';
  /** The folder of the user or the project that it belongs to; undefined where the path was named. */
  readonly baseDir?: string;
}

/** Where skills are looked for; of two with one name the first is used. */
export function skillPlaces({ agentDir, home, cwd, ...rest }: ResourcePlaces): Place[] {
  const found = [
    inside('user', agentDir, 'skills'),
    inside('user', join(home, '.agents'), 'skills'),
    ...projectFolders(cwd).map((folder) => inside('project', folder, 'skills')),
    ...foldersUpToRepository(cwd).map((folder) => inside('project', join(folder, '.agents'), 'skills')),
  ];
  return [...(rest.findSkills ? found : []), ...named(rest.skillPaths, { home, cwd })];
}

/** The same for prompt templates. */
export function templatePlaces({ agentDir, home, cwd, ...rest }: ResourcePlaces): Place[] {
  const found = [
    inside('user', agentDir, 'prompts'),
    ...projectFolders(cwd).map((folder) => inside('project', folder, 'prompts')),
  ];
  return [...(rest.findTemplates ? found : []), ...named(rest.promptPaths, { home, cwd })];
}

/** A path as people write it. */
export const placed = (path: string, { home, cwd }: Pick<ResourcePlaces, 'home' | 'cwd'>) =>
  resolve(cwd, expandHome(path, home));

/** How clients are told where a command comes from, in the older and the newer form. */
export function whereabouts(path: string, { location, ...place }: Place) {
  const baseDir = place.baseDir ?? (place.path === path ? dirname(path) : place.path);
  const { source, scope } = SOURCES[location];
  return { location, path, sourceInfo: { path, source, scope, origin: 'top-level', baseDir } } as const;
}

const SOURCES = {
  user: { source: 'auto', scope: 'user' },
  project: { source: 'auto', scope: 'project' },
  path: { source: 'local', scope: 'temporary' },
} as const;

const inside = (location: 'user' | 'project', baseDir: string, name: string): Place => ({
  path: join(baseDir, name),
  location,
  baseDir,
});

const projectFolders = (cwd: string) => [join(cwd, '.pi'), join(cwd, '.pi', 'agent')];

const named = (paths: readonly string[], from: Pick<ResourcePlaces, 'home' | 'cwd'>): Place[] =>
  paths
    .filter((path) => !/^[!-]/.test(path))
    .map((path) => ({ path: placed(path.replace(/^\+/, ''), from), location: 'path' }));
