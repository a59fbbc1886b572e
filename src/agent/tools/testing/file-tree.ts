import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files by their paths; a path with / at its end is an empty folder. */
export type FileTree = Readonly<Record<string, string | Buffer>>;

/** Makes a new folder inside another, with these files. */
export function makeTree(parent: string, files: FileTree): string {
  const root = mkdtempSync(join(parent, 'tree-'));
  for (const [path, content] of Object.entries(files)) {
    const target = join(root, path);
    mkdirSync(path.endsWith('/') ? target : dirname(target), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(target, content);
  }
  return root;
}

/** Runs git as if this machine had no settings for it. */
export const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      HOME: '/',
      XDG_CONFIG_HOME: '/',
    },
  });

/** The files in a new repository that git does not ignore, in order. */
export const filesOfGit = (cwd: string): string[] =>
  git(cwd, 'ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean).sort();
