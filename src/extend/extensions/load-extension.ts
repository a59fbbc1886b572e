import { messageOf } from '../../protocol/errors.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import type { ExtensionFactory } from './extension-api.ts';
import type { ExtensionSource } from './find-extensions.ts';
import { CompiledFiles } from './modules/compiled-files.ts';
import { ModuleGraph } from './modules/module-graph.ts';
import type { ExtensionEnvironment } from './pi-shims/extension-environment.ts';
import { PiShims } from './pi-shims/pi-shims.ts';

/** How long the modules of an extension may take to run to their ends. */
export const LOAD_TIMEOUT_MS = 30_000;

export interface LoadOptions extends ExtensionEnvironment {
  /** Where compiled code is kept from one start to the next. */
  readonly cacheDir: string;
  readonly timeoutMs?: number;
}

/**
 * Runs the modules of an extension, and answers the function that they export. What was changed since the last load
 * is read anew, but for packages.
 *
 * Rejects with one line.
 */
export async function loadExtension({ path }: ExtensionSource, options: LoadOptions): Promise<ExtensionFactory> {
  const { cacheDir, timeoutMs: timeoutMs = LOAD_TIMEOUT_MS, ...environment } = options;
  const graph = new ModuleGraph(CompiledFiles.in(cacheDir), new PiShims(environment));
  const exported = await withLoadTimeout(timeoutMs, graph.import(path)).catch((error: unknown) => {
    throw new Error(oneLine(messageOf(error)), { cause: error });
  });
  const factory = (exported as { default?: unknown } | null | undefined)?.default ?? exported;
  if (typeof factory !== 'function') throw new Error(`Extension does not export a valid factory function: ${path}`);
  return factory as ExtensionFactory;
}

/** What the work of loading comes to, if that does not take too long. */
export const withLoadTimeout = <T>(timeoutMs: number, work: Promise<T>): Promise<T> =>
  withTimeout(timeoutMs, work, `it did not finish loading within ${timeoutMs / 1000} seconds`);

const oneLine = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, ' ');
