import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

// More names would hide the command.
const MAX_LISTED_HOOKS = 20;

/** Files that git runs by itself in the repository of a folder: the model may have written those of the workspace. */
export function gitHooks(command: string, cwd: string): string[] {
  if (!/\bgit\b/.test(command)) return [];
  const git = gitFolder(cwd);
  if (!git) return [];
  const folder = configuredFolder(git) ?? join(git, 'hooks');
  return entriesOf(folder)
    .filter((name) => !name.endsWith('.sample') && !name.startsWith('.') && name !== '_')
    .slice(0, MAX_LISTED_HOOKS)
    .map((name) => join(folder, name));
}

function gitFolder(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (entriesOf(folder).includes('.git')) return join(folder, '.git');
    if (folder === dirname(folder)) return undefined;
  }
}

/** The value of `core.hooksPath` in the repository's own configuration. */
function configuredFolder(git: string): string | undefined {
  const [, path] = /^\s*hooksPath\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(textOf(join(git, 'config'))) ?? [];
  return path === undefined ? undefined : resolve(dirname(git), path);
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
