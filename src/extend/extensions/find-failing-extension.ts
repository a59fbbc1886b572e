import { dirname } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { ExtensionSource } from './find-extensions.ts';

/** Where tau's own code is. */
const SOURCE_FOLDER = dirname(import.meta.dirname);

/**
 * The extension that has left this uncaught, as far as can be told, among all that were ever run; undefined when it was
 * tau itself. A refusal is never tau's own: it was the answer to somebody.
 */
export function findFailingExtension(error: unknown, sources: Iterable<ExtensionSource>): string | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  for (const { path, baseDir } of sources) if (stack.includes(path) || stack.includes(`${baseDir}/`)) return path;
  return stack.includes(SOURCE_FOLDER) && !(error instanceof Refusal) ? undefined : '<runtime>';
}
