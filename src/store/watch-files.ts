import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { stampOf } from './json-file.ts';

/** How often files are looked at where the system announces no changes. */
const POLL_MS = 1000;

/** How long a file may be half written, or gone for the sake of another, before it is looked at. */
const QUIET_MS = 50;

/**
 * Tells when files are written, replaced, made or removed, until it is told to stop.
 *
 * Their folders must exist. Changes on the way through a symlink are seen after at most `POLL_MS`. Keeps no process alive.
 */
export function watchFiles(paths: readonly string[], changed: (path: string) => void): () => void {
  const stamps = new Map(paths.map((path) => [path, stampOf(path)]));
  const look = () => {
    for (const [path, before] of stamps) {
      const now = stampOf(path);
      if (now === before) continue;
      stamps.set(path, now);
      changed(path);
    }
  };
  let soon: NodeJS.Timeout | undefined;
  const lookSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      look();
    }, QUIET_MS).unref();
  };
  const poll = setInterval(lookSoon, POLL_MS).unref();
  const watchers = [...new Set(paths.map((path) => dirname(path)))].map((folder) => watcherOf(folder, lookSoon));
  return () => {
    clearInterval(poll);
    clearTimeout(soon);
    for (const watcher of watchers) watcher?.close();
  };
}

/** None where the system has no more of them to give. */
function watcherOf(folder: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}
