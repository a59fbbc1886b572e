import { dirname } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { ExtensionSource } from './load/find-extensions.ts';

// The folder of tau's own code.
const SOURCE_FOLDER = dirname(import.meta.dirname);

// A `Refusal` is never an error of tau: it is always the response to a caller.
/** The path of the extension that caused an uncaught error; undefined if tau caused it. */
export function findFailingExtension(error: unknown, sources: Iterable<ExtensionSource>): string | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  for (const { path, baseDir } of sources) if (stack.includes(path) || stack.includes(`${baseDir}/`)) return path;
  return stack.includes(SOURCE_FOLDER) && !(error instanceof Refusal) ? undefined : '<runtime>';
}
