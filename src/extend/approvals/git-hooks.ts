import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

// More names would hide the command.
const MAX_LISTED_HOOKS = 20;

/** Files that git runs by itself in the repository of a folder: the model may have written those of the workspace. */
export function gitHooks(command: string, cwd: string): string[] {
  if (!/\bgit\b/.test(command)) return [];
  const top = topFolder(cwd);
  if (top === undefined) return [];
  const git = sharedGitFolder(join(top, '.git'));
  const path = configuredPath(git);
  const folder = path === undefined ? join(git, 'hooks') : resolve(top, path);
  return entriesOf(folder)
    .filter((name) => !name.endsWith('.sample') && !name.startsWith('.') && name !== '_')
    .slice(0, MAX_LISTED_HOOKS)
    .map((name) => join(folder, name));
}

function topFolder(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (entriesOf(folder).includes('.git')) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The folder with the configuration and hooks of a repository: in a worktree or a submodule, `.git` is a file. */
function sharedGitFolder(git: string): string {
  const [, target] = /^gitdir: (.+)$/m.exec(textOf(git)) ?? [];
  const own = target === undefined ? git : resolve(dirname(git), target);
  return resolve(own, textOf(join(own, 'commondir')).trim());
}

/** The value of `core.hooksPath` in the repository's own configuration. */
function configuredPath(git: string): string | undefined {
  return /^\s*hooksPath\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(textOf(join(git, 'config')))?.[1];
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
