import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder of configuration, credentials and sessions: pi's own, so that users can move over and back. */
export function agentDir(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] || homedir();
  const chosen = env['PI_CODING_AGENT_DIR'];
  return chosen ? resolve(expandHome(chosen, home)) : join(home, '.pi', 'agent');
}

/** The folder that holds a folder of sessions for each working directory. */
export const sessionsFolder = (root: string) => join(root, 'sessions');

/** The folder of the sessions that were held in one working directory. */
export function sessionDirFor(root: string, cwd: string): string {
  const encoded = cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-');
  return join(sessionsFolder(root), `--${encoded}--`);
}

/** A path as people write it in configuration, where no shell expands `~`. */
export function expandHome(path: string, home = homedir()): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}
