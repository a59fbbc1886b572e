import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Home } from '../agent/test-agent.ts';

/** The content of every file with a secret. */
export const FILE_SECRET = 'a-secret-of-the-home-folder';

/** Variables with secrets of a user. The values have one text in common. */
export const SECRET_VARIABLES = {
  ANTHROPIC_API_KEY: 'env-secret-1',
  OPENAI_API_KEY: 'env-secret-2',
  AWS_ACCESS_KEY_ID: 'env-secret-3',
  AWS_SECRET_ACCESS_KEY: 'env-secret-4',
  AWS_SESSION_TOKEN: 'env-secret-5',
  AWS_PROFILE: 'env-secret-6',
  GH_TOKEN: 'env-secret-7',
  GITHUB_TOKEN: 'env-secret-8',
  NPM_TOKEN: 'env-secret-9',
  SSH_AUTH_SOCK: '/run/env-secret-10/agent.sock',
} as const;

/**
 * A home folder like that of a user, with a workspace and an agent folder in it. It lies outside of `/tmp`, which a
 * sandbox replaces.
 */
export function newUserHome(): Home {
  const root = realpathSync(mkdtempSync('/var/tmp/tau-home-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = { root, cwd: join(root, 'project'), agentDir: join(root, '.pi/agent') };
  mkdirSync(home.cwd);
  mkdirSync(home.agentDir, { recursive: true });
  return home;
}

/** Writes secrets where users have theirs, and returns their paths. */
export function writeSecrets(home: Home): string[] {
  const names = ['.ssh/id_rsa', '.aws/credentials', '.config/gh/hosts.yml', '.netrc', '.git-credentials'];
  const paths = [...names.map((name) => join(home.root, name)), join(home.agentDir, 'notes.txt')];
  for (const path of paths) writeFile(path, FILE_SECRET);
  const credentials = { anthropic: { type: 'api_key', key: FILE_SECRET } };
  const auth = join(home.agentDir, 'auth.json');
  writeFileSync(auth, JSON.stringify(credentials), { mode: 0o600 });
  return [...paths, auth];
}

/** Writes a file and the folders above it. */
export function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Runs git with a name and an address, outside of any sandbox. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  });

/** Makes a repository with one commit. */
export function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet');
  writeFileSync(join(folder, 'README.md'), 'the first line\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'begin');
}
