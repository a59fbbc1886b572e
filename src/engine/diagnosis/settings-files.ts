import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import type { Project } from '../project.ts';
import { fine, problem, warning } from './finding.ts';

/** Reports problems of the settings files. */
export function settingsFindings({ warnings }: Project): readonly Finding[] {
  if (warnings.length === 0) return [fine('settings', 'Nothing wrong with them')];
  return warnings.map((text) => warning('settings', `${text}. Mend the file`));
}

/** Reports the files that are not used because the project is not trusted. */
export function trustFinding({ trusted }: Project, skippedFiles: readonly string[]): Finding {
  if (trusted) return fine('trust', 'This project is trusted');
  if (skippedFiles.length === 0) return fine('trust', 'This project is not trusted, and has no files that need it');
  const files = skippedFiles.join(', ');
  return warning(
    'trust',
    `This project is not trusted: these files are not used, but for stricter limits of approvals: ${files}. Use set_trust or --approve`,
  );
}

// Files of the agent folder; files with secrets or decisions about trust and approvals are private.
const agentFiles = {
  'settings.json': 'open',
  'models.json': 'open',
  'trust.json': 'private',
  'auth.json': 'private',
  'approvals.json': 'private',
  'confined-folders.json': 'private',
} as const;

/** Checks the files of the agent folder and their permissions. */
export async function agentFilesFindings(agentDir: string): Promise<Finding[]> {
  const files = Object.entries(agentFiles).map(([name, kind]) => fileFinding(join(agentDir, name), { name, kind }));
  return [...(await Promise.all(files)), ...(await looseFolderFindings(agentDir))];
}

/** Reports an agent folder in which other users can replace files. */
async function looseFolderFindings(agentDir: string): Promise<Finding[]> {
  const stats = await stat(agentDir).catch(() => undefined);
  if (!stats || !isWritableByOthers(stats)) return [];
  return [warning('agent folder', `${agentDir} can be changed by other users. Run: chmod 700 ${agentDir}`)];
}

const isWritableByOthers = ({ mode }: { readonly mode: number }) => (mode & 0o022) !== 0;

async function fileFinding(path: string, { name, kind }: { name: string; kind: 'open' | 'private' }): Promise<Finding> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (stats instanceof Error) {
    return stats.code === 'ENOENT' || stats.code === 'ENOTDIR'
      ? fine(name, `${path} (not there)`)
      : problem(name, `${path} cannot be read (${stats.code}). Change the permissions of the folders above it`);
  }
  if (!stats.isFile()) return problem(name, `${path} is not a file. Move it away`);
  if (kind === 'private' && (stats.mode & 0o077) !== 0) {
    return warning(name, `${path} can be read by other users. Run: chmod 600 ${path}`);
  }
  if (isWritableByOthers(stats)) return warning(name, `${path} can be changed by other users. Run: chmod 600 ${path}`);
  return fine(name, path);
}
