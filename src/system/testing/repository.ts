import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs git with a name and an address, outside of any sandbox. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });

/** Makes a repository with one commit. */
export function makeRepository(cwd: string): void {
  mkdirSync(cwd, { recursive: true });
  git(cwd, 'init', '-q');
  writeFileSync(join(cwd, 'file'), 'one\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-qm', 'first');
}

/** Options of a session in a repository. */
export const inRepository = { prepare: ({ cwd }: { readonly cwd: string }): void => makeRepository(cwd) };
