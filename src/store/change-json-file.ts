import { accessSync, chmodSync, constants, existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../protocol/errors.ts';
import type { JsonObject } from '../protocol/json.ts';
import { PERMISSION_BITS, writeFileAtomic } from '../system/files/atomic-write.ts';
import { withFileMutex } from '../system/files/file-mutex.ts';
import { acquireLock, type Lock, LockHeld } from '../system/files/lock.ts';
import { LockFolder } from '../system/files/lock-folder.ts';
import { makePrivateFolder } from '../system/files/make-folder.ts';
import { replaceFile } from '../system/files/replace-file.ts';
import { MalformedFile, readJsonObject } from './json-file.ts';

// How long and how often a lock that another process holds is tried.
const LOCK_TIMEOUT_MS = 10_000;
const LOCK_RETRY_MS = 20;

// The holder of such a lock may wait for a lock folder, and then for a server.
const SHARED_LOCK_TIMEOUT_MS = 90_000;

// How often a change is made whose lock folder was lost meanwhile.
const MAX_CHANGE_ATTEMPTS = 10;

const WRITE_BITS = 0o222;

interface ChangeOptions {
  readonly mode?: number;
  /** The name of the file in error messages. */
  readonly name: string;
  /** Renames a malformed file to `<path>.bad` and starts with an empty object. */
  readonly malformed?: 'rename';
  /** `folder`: other programs write the file, too, and lock it with a folder beside it. */
  readonly lock?: 'folder';
  /** How long to wait for another process, if its change may take longer than usual. */
  readonly lockTimeoutMs?: number;
}

type Change = (before: JsonObject) => JsonObject | Promise<JsonObject>;

/**
 * Changes the object in a file, or creates the file for the user alone. `mode` also applies to an existing file.
 *
 * Processes take turns, each with the result of the one before. A malformed file is not written: the call rejects,
 * unless the options decide otherwise. A change that returns its argument writes nothing. `change` is called again if
 * the lock was lost meanwhile, up to a limit.
 */
export async function changeJsonFile(path: string, change: Change, options: ChangeOptions): Promise<void> {
  makePrivateFolder(dirname(path));
  await withFileMutex(path, async () => {
    const { lockTimeoutMs = options.lock ? SHARED_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS } = options;
    const lock = await lockWithTimeout(path, lockTimeoutMs);
    try {
      for (let attempt = 1; !(await changeOnce(path, change, options)); attempt++)
        if (attempt === MAX_CHANGE_ATTEMPTS) throw new Error(`${options.name}: its lock was lost during each change`);
    } finally {
      await lock.release();
    }
  });
}

/** Returns false, and writes nothing, if the lock folder was lost during the change. */
async function changeOnce(path: string, change: Change, options: ChangeOptions): Promise<boolean> {
  const folder = options.lock && (await LockFolder.acquire(path));
  try {
    if (folder) checkWritable(path, options);
    const before = readForChange(path, options);
    const after = await change(before);
    if (after === before) return true;
    if (folder && !folder.isHeld) return false;
    const text = `${JSON.stringify(after, null, 2)}\n`;
    if (folder && existsSync(path)) await replaceInPlace(path, text, options);
    else writeFileAtomic(path, text, { newMode: 0o600, ...(options.mode === undefined ? {} : { mode: options.mode }) });
    return true;
  } finally {
    folder?.release();
  }
}

/** Keeps the owner, and also replaces a file that is a mount of its own. */
async function replaceInPlace(path: string, text: string, { mode }: ChangeOptions): Promise<void> {
  if (mode !== undefined && (statSync(path).mode & PERMISSION_BITS) !== mode) chmodSync(path, mode);
  await replaceFile(path, text);
}

/** Is called before a change that cannot be repeated. The user root may write every file, but is not meant to. */
function checkWritable(path: string, { name }: ChangeOptions): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && (stats.mode & WRITE_BITS) === 0) throw new Error(`${name} is read-only`);
  if (stats) accessSync(path, constants.W_OK);
}

/** Reads the object in a file, or creates one, as `changeJsonFile` does. */
export function readForChange(
  path: string,
  { name, malformed }: Pick<ChangeOptions, 'name' | 'malformed'>,
): JsonObject {
  try {
    return readJsonObject(path) ?? {};
  } catch (error) {
    if (malformed === 'rename' && error instanceof MalformedFile) {
      renameSync(path, `${path}.bad`);
      return {};
    }
    throw new Error(`${name}: ${messageOf(error)}; it is left as it is`);
  }
}

async function lockWithTimeout(path: string, timeoutMs: number): Promise<Lock> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await acquireLock(path);
    } catch (error) {
      if (!(error instanceof LockHeld) || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
  }
}
