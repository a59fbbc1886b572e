import { chmodSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { makePrivateFolder } from '../system/files/make-folder.ts';

/** The folder of configuration, credentials and sessions: pi's own, so that users can switch in both directions. */
export function agentDir(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] || homedir();
  const chosen = env['PI_CODING_AGENT_DIR'];
  return chosen ? resolve(expandHome(chosen, home)) : join(home, '.pi', 'agent');
}

/** The folder of the user's programs for the agent. */
export const programsFolder = (root: string) => join(root, 'bin');

/** A PATH that begins with the folder of those programs. */
export function pathWithPrograms(root: string, path = ''): string {
  const folders = path.split(delimiter).filter(Boolean);
  const programs = programsFolder(root);
  return folders.includes(programs) ? path : [programs, ...folders].join(delimiter);
}

/** The folder that holds one session folder per working directory. */
export const sessionsFolder = (root: string) => join(root, 'sessions');

/** The session folder of one working directory. */
export function sessionDirFor(root: string, cwd: string): string {
  const encoded = cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-');
  return join(sessionsFolder(root), `--${encoded}--`);
}

/** Expands `~` in a configured path, which no shell has expanded. */
export function expandHome(path: string, home = homedir()): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

/** The folder of a server's persistent state. */
export const serverFolder = (agentDir: string): string => join(agentDir, 'server');

/** Creates the folder, readable by the user alone. */
export function makeServerFolder(agentDir: string): void {
  const folder = serverFolder(agentDir);
  makePrivateFolder(folder);
  chmodSync(folder, 0o700);
}
