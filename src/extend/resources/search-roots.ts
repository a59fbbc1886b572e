import { dirname, join, resolve } from 'node:path';
import { fileGlob } from '../../agent/tools/search/glob.ts';
import { expandHome } from '../../store/agent-dir.ts';
import { foldersUpToRepository } from '../repository-folders.ts';

export interface ResourceOptions {
  readonly agentDir: string;
  readonly home: string;
  readonly cwd: string;
  /** Files of an untrusted project that are links out of it are left out. */
  readonly trusted: boolean;
  /**
   * Paths from settings, flags or extensions. `-path` excludes a path, `!pattern` excludes by pattern, and `+path`
   * includes a path in spite of a pattern.
   */
  readonly skillPaths: readonly string[];
  readonly promptPaths: readonly string[];
  /** If false, only the named paths count. */
  readonly findSkills: boolean;
  readonly findTemplates: boolean;
  /** Whether skills can be called as `/skill:name`; by default they can. */
  readonly hasSkillCommands?: boolean | undefined;
}

/** A file or folder to search for resources. */
export interface ResourceRoot {
  readonly path: string;
  readonly location: 'user' | 'project' | 'path';
  /** The user's or project's folder that contains it; undefined for a named path. */
  readonly baseDir?: string;
}

/** The roots to search for skills, in order of precedence. */
export function skillRoots({ agentDir, home, cwd, ...rest }: ResourceOptions): ResourceRoot[] {
  const found = [
    rootIn('user', agentDir, 'skills'),
    rootIn('user', join(home, '.agents'), 'skills'),
    ...projectFolders(cwd).map((folder) => rootIn('project', folder, 'skills')),
    ...foldersUpToRepository(cwd).map((folder) => rootIn('project', join(folder, '.agents'), 'skills')),
  ];
  return [...(rest.findSkills ? found : []), ...namedRoots(rest.skillPaths, { home, cwd })];
}

/** The roots to search for prompt templates, in order of precedence. */
export function templateRoots({ agentDir, home, cwd, ...rest }: ResourceOptions): ResourceRoot[] {
  const found = [
    rootIn('user', agentDir, 'prompts'),
    ...projectFolders(cwd).map((folder) => rootIn('project', folder, 'prompts')),
  ];
  return [...(rest.findTemplates ? found : []), ...namedRoots(rest.promptPaths, { home, cwd })];
}

const resolvePath = (path: string, { home, cwd }: Pick<ResourceOptions, 'home' | 'cwd'>) =>
  resolve(cwd, expandHome(path, home));

/** The source of a command in the older and the newer wire form. */
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

/** A test for files that the settings exclude; see `ResourceOptions.skillPaths`. */
export function excludedFiles(
  paths: readonly string[],
  from: Pick<ResourceOptions, 'home' | 'cwd'>,
): (file: string) => boolean {
  const after = (sign: string) => paths.filter((path) => path.startsWith(sign)).map((path) => path.slice(1));
  const excluded = after('-').map((path) => resolvePath(path, from));
  const included = after('+').map((path) => resolvePath(path, from));
  const patterns = after('!').map((pattern) => fileGlob(pattern.includes('/') ? resolvePath(pattern, from) : pattern));
  const matches = (file: string) =>
    patterns.some((pattern) => pattern(file.slice(1), false) || pattern(dirname(file).slice(1), true));
  return (file) => {
    if (excluded.some((path) => isAtOrBelow(file, path))) return true;
    return matches(file) && !included.some((path) => isAtOrBelow(file, path));
  };
}

const isAtOrBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
