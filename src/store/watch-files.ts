import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { fileStamp } from './json-file.ts';

// Polling interval where the system reports no changes.
const POLL_MS = 1000;

// How long a file may be partial, or missing while it is replaced, before it is checked.
const QUIET_MS = 50;

/**
 * Calls `onChange` when a file is created, written, replaced or removed; returns the function that stops it.
 *
 * The folders must exist. Changes behind a symlink are found after at most `POLL_MS`. Keeps no process alive.
 */
export function watchFiles(paths: readonly string[], onChange: (path: string) => void): () => void {
  const stamps = new Map(paths.map((path) => [path, fileStamp(path)]));
  const checkAll = () => {
    for (const [path, before] of stamps) {
      const now = fileStamp(path);
      if (now === before) continue;
      stamps.set(path, now);
      onChange(path);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const scheduleCheck = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      checkAll();
    }, QUIET_MS).unref();
  };
  const poll = setInterval(scheduleCheck, POLL_MS).unref();
  const watchers = [...new Set(paths.map((path) => dirname(path)))].map((folder) => tryWatch(folder, scheduleCheck));
  return () => {
    clearInterval(poll);
    clearTimeout(timer);
    for (const watcher of watchers) watcher?.close();
  };
}

/** Undefined when the system has no more watchers. */
function tryWatch(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}
