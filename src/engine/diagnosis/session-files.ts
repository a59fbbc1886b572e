import type { Dirent } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { lockHolder } from '../../system/files/lock.ts';
import { sizeText } from '../../system/size-text.ts';
import { fine, problem, warning } from './finding.ts';

// Limit of inspected session files.
const MAX_SESSION_FILES = 20_000;
// Limit of lock checks, last written files first.
const MAX_LOCK_CHECKS = 200;
const CONCURRENT_LOCK_CHECKS = 20;

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly writtenAt: number;
}

/** Reports stored sessions, the processes that lock them, and the trash. */
export async function storedSessionFindings(folders: readonly string[]): Promise<Finding[]> {
  const all = (await Promise.all([...new Set(folders)].map(filesBelow))).flat();
  const kept = all.filter(({ path }) => path.endsWith('.jsonl') && !isTrash(dirname(path)));
  const trashed = all.filter(({ path }) => isTrash(dirname(path)));
  return [
    fine('sessions', `${amount(kept, 'session')} stored`),
    ...(await holderFindings(kept)),
    ...(trashed.length === 0
      ? []
      : [warning('trash', `${amount(trashed, 'file')}. Remove them if you do not want them back`)]),
  ];
}

async function holderFindings(files: readonly StoredFile[]): Promise<Finding[]> {
  const checked = files.toSorted((a, b) => b.writtenAt - a.writtenAt).slice(0, MAX_LOCK_CHECKS);
  const held: string[] = [];
  for (let from = 0; from < checked.length; from += CONCURRENT_LOCK_CHECKS) {
    const batch = checked.slice(from, from + CONCURRENT_LOCK_CHECKS);
    const holders = await Promise.all(batch.map(({ path }) => lockHolder(path).catch(() => undefined)));
    for (const [index, holder] of holders.entries()) {
      if (holder) held.push(`process ${holder.pid ?? 'unknown'} holds ${batch[index]?.path}`);
    }
  }
  const scope = files.length > checked.length ? ` of the last ${checked.length}` : '';
  if (held.length === 0) return [fine('locks', `No session${scope} is in use`)];
  return held.map((text) => fine('locks', text));
}

const isTrash = (folder: string) => /[/\\]\.?trash$/.test(folder);

const amount = (files: readonly StoredFile[], what: string) => {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return `${files.length} ${what}${files.length === 1 ? '' : 's'} of ${sizeText(bytes)}`;
};

/** Files of a folder, its subfolders and their trash. */
async function filesBelow(folder: string): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  const folders = [{ path: folder, depth: 0 }];
  for (const { path, depth } of folders) {
    for (const entry of await entriesOf(path)) {
      if (files.length >= MAX_SESSION_FILES) return files;
      const inner = join(path, entry.name);
      if (entry.isDirectory() && depth < 2) folders.push({ path: inner, depth: depth + 1 });
      const stats = entry.isFile() ? await stat(inner).catch(() => undefined) : undefined;
      if (stats) files.push({ path: inner, bytes: stats.size, writtenAt: stats.mtimeMs });
    }
  }
  return files;
}

const entriesOf = (folder: string): Promise<Dirent[]> => readdir(folder, { withFileTypes: true }).catch(() => []);

const CHECK = 'session file';

/** Checks that the session file exists, is writable and is locked by this process, unless it is only read. */
export async function sessionFileFinding({
  path,
  isReadOnly,
}: Pick<SessionLog, 'path' | 'isReadOnly'>): Promise<Finding> {
  if (path !== undefined && isReadOnly) return fine(CHECK, `${path} (open for reading only)`);
  if (path === undefined) return fine(CHECK, 'None: the session is kept in memory only');
  try {
    await access(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return problem(
      CHECK,
      isMissing ? `${path} was removed. ${NEW_SESSION_ADVICE}` : `${path} cannot be written. ${PERMISSIONS_ADVICE}`,
    );
  }
  const holder = await lockHolder(path);
  if (holder?.pid === process.pid) return fine(CHECK, path);
  const holderText = holder ? `process ${holder.pid ?? 'unknown'} holds it` : 'no process holds it';
  return problem(CHECK, `${path} is not locked by this process: ${holderText}. ${NEW_SESSION_ADVICE}`);
}

const NEW_SESSION_ADVICE = 'Nothing more can be stored in it: begin another session with new_session';
const PERMISSIONS_ADVICE = 'Change its permissions, or begin another session with new_session';
