import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../protocol/errors.ts';
import type { JsonObject } from '../protocol/json.ts';
import { writeFileAtomic } from '../system/files/atomic-write.ts';
import { withFileMutex } from '../system/files/file-mutex.ts';
import { acquireLock, type Lock, LockHeld } from '../system/files/lock.ts';
import { makePrivateFolder } from '../system/files/make-folder.ts';
import { MalformedFile, readJsonObject } from './json-file.ts';

// How long and how often a lock that another process holds is tried.
const LOCK_TIMEOUT_MS = 10_000;
const LOCK_RETRY_MS = 20;

interface ChangeOptions {
  readonly mode?: number;
  /** The name of the file in error messages. */
  readonly name: string;
  /** Renames a malformed file to `<path>.bad` and starts with an empty object. */
  readonly malformed?: 'rename';
}

/**
 * Changes the object in a file, or creates the file for the user alone. `mode` also applies to an existing file.
 *
 * Processes take turns, each with the result of the one before. A malformed file is not written: the call rejects,
 * unless the options decide otherwise.
 */
export async function changeJsonFile(
  path: string,
  change: (before: JsonObject) => JsonObject | Promise<JsonObject>,
  options: ChangeOptions,
): Promise<void> {
  makePrivateFolder(dirname(path));
  await withFileMutex(path, async () => {
    const lock = await lockWithTimeout(path);
    try {
      const after = await change(readForChange(path, options));
      const mode = options.mode === undefined ? {} : { mode: options.mode };
      writeFileAtomic(path, `${JSON.stringify(after, null, 2)}\n`, { newMode: 0o600, ...mode });
    } finally {
      await lock.release();
    }
  });
}

function readForChange(path: string, { name, malformed }: ChangeOptions): JsonObject {
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

async function lockWithTimeout(path: string): Promise<Lock> {
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      return await acquireLock(path);
    } catch (error) {
      if (!(error instanceof LockHeld) || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
  }
}
