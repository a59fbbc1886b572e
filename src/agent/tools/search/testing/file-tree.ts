import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** File contents by path; a path with a trailing / is an empty folder. */
export type FileTree = Readonly<Record<string, string | Buffer>>;

/** Creates a folder with these files inside a parent folder. */
export function makeTree(parent: string, files: FileTree): string {
  const root = mkdtempSync(join(parent, 'tree-'));
  for (const [path, content] of Object.entries(files)) {
    const target = join(root, path);
    mkdirSync(path.endsWith('/') ? target : dirname(target), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(target, content);
  }
  return root;
}

/** Runs git without the configuration of this machine. */
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

/** Files of a new repository that git does not ignore, sorted. */
export const filesOfGit = (cwd: string): string[] =>
  git(cwd, 'ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean).sort();
