import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { gitHooks } from './git-hooks.ts';

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' });

function repository() {
  const root = join(tempFolder(), 'main');
  mkdirSync(join(root, 'src'), { recursive: true });
  git(root, 'init', '-q');
  rmSync(join(root, '.git/hooks'), { recursive: true, force: true });
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  return root;
}

function addHook(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  return path;
}

it('finds the hooks of the repository above, and no samples', () => {
  const root = repository();
  const hook = addHook(join(root, '.git/hooks/pre-commit'));
  addHook(join(root, '.git/hooks/pre-push.sample'));

  expect(gitHooks('git commit', join(root, 'src'))).toEqual([hook]);
  expect(gitHooks('npm test', join(root, 'src'))).toEqual([]);
});

it('finds the hooks of a worktree, whose .git is a file, in the main repository', () => {
  const root = repository();
  const hook = addHook(join(root, '.git/hooks/post-checkout'));
  const worktree = join(dirname(root), 'other');
  git(root, 'worktree', 'add', '-q', worktree);

  expect(gitHooks('cd . && git push', worktree)).toEqual([hook]);
});

it('finds the hooks in the folder that the configuration names', () => {
  const root = repository();
  git(root, 'config', 'core.hooksPath', '.husky/_');
  addHook(join(root, '.git/hooks/pre-commit'));
  const hook = addHook(join(root, '.husky/_/pre-commit'));

  expect(gitHooks('git commit', root)).toEqual([hook]);
});

it('finds none without a repository', () => {
  expect(gitHooks('git status', tempFolder())).toEqual([]);
});
