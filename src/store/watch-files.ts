import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { fileStamp } from './json-file.ts';

/** How often files are looked at where the system announces no changes. */
const POLL_MS = 1000;

/** How long a file may be half written, or gone for the sake of another, before it is looked at. */
const QUIET_MS = 50;

/**
 * Tells when files are written, replaced, made or removed, until it is told to stop.
 *
 * Their folders must exist. Changes on the way through a symlink are seen after at most `POLL_MS`. Keeps no process alive.
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

/** None where the system has no more of them to give. */
function tryWatch(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}
