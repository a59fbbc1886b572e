import { execFile } from 'node:child_process';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { type Holder, type Lock, LockHeld } from './lock.ts';
import { realPath } from './real-path.ts';

const ATTEMPTS = 20;
const STALE_RETRY_MS = 25;
// `ps` may derive the start from a boot time that drifts by a second.
const START_TOLERANCE_MS = 2000;

interface LockRecord {
  readonly pid: number;
  readonly startedAt: number;
  // Distinguishes this lock from every other at the same path.
  readonly nonce: string;
}

// A power cut can leave a lock file without content: it is linked into place, but not synced.
const malformedRecord: LockRecord = { pid: 0, startedAt: 0, nonce: 'unreadable' };

/**
 * The lock for systems other than Linux: `<path>.lock` names its holder by pid and start time.
 *
 * The file of a dead holder stays and is replaced by the next caller.
 */
export async function acquireLockFile(path: string): Promise<Lock> {
  const file = `${realPath(path)}.lock`;
  const startedAt = (await startTimeOf(process.pid)) ?? 0;
  const self = { pid: process.pid, startedAt, nonce: Math.random().toString(36).slice(2) };
  const holder = await claim(file, self);
  if (holder) throw new LockHeld(path, holder.pid || undefined);
  return { release: () => remove(file, self) };
}

/** Returns the live holder of the lock of a file, if any. */
export async function lockFileHolder(path: string): Promise<Holder | undefined> {
  const holder = await read(`${realPath(path)}.lock`);
  return holder && (await isAlive(holder)) ? { pid: holder.pid } : undefined;
}

/** Creates the lock file, or returns the holder when another process has it. */
async function claim(file: string, self: LockRecord): Promise<LockRecord | undefined> {
  let holder: LockRecord | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await linkLockFile(file, self)) return undefined;
    holder = await read(file);
    if (!holder) continue;
    if (await isAlive(holder)) return holder;
    await removeStale(file, { stale: holder, self });
  }
  return holder ?? malformedRecord;
}

/** Links the file into place with its content, so that no process reads half a lock. */
async function linkLockFile(file: string, self: LockRecord): Promise<boolean> {
  const draft = `${file}.${self.nonce}.new`;
  await writeFile(draft, JSON.stringify(self), { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Another process may replace a dead holder's file before it is removed here. So the removal of one particular
 * holder's file is itself guarded by a lock named after that holder; a remover that died is removed the same way.
 */
async function removeStale(file: string, { stale, self }: { stale: LockRecord; self: LockRecord }): Promise<void> {
  const removalLock = `${file}.${stale.nonce}`;
  if (await claim(removalLock, self)) {
    await new Promise((resolve) => setTimeout(resolve, STALE_RETRY_MS));
    return;
  }
  await remove(file, stale);
  await remove(removalLock, self);
}

async function remove(file: string, holder: LockRecord): Promise<void> {
  if ((await read(file))?.nonce === holder.nonce) await rm(file, { force: true });
}

async function read(file: string): Promise<LockRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isLockRecord(value) ? value : malformedRecord;
  } catch (error) {
    if (error instanceof SyntaxError) return malformedRecord;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isLockRecord(value: unknown): value is LockRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startedAt, nonce } = value as Partial<Record<keyof LockRecord, unknown>>;
  return Number.isInteger(pid) && typeof startedAt === 'number' && typeof nonce === 'string' && /^\w+$/.test(nonce);
}

async function isAlive({ pid, startedAt }: LockRecord): Promise<boolean> {
  const start = await startTimeOf(pid);
  return start !== undefined && Math.abs(start - startedAt) <= START_TOLERANCE_MS;
}

/** The start time of a live process in milliseconds; a zombie is not alive. */
function startTimeOf(pid: number): Promise<number | undefined> {
  if (pid <= 0) return Promise.resolve(undefined);
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  return new Promise((resolve, reject) => {
    execFile('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], { env }, (error, stdout) => {
      const [, state, start] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? [];
      if (error && typeof error.code === 'string') reject(error);
      else resolve(state === undefined || state.startsWith('Z') ? undefined : Date.parse(`${start} UTC`));
    });
  });
}
