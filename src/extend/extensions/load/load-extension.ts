import { messageOf } from '../../../protocol/errors.ts';
import { completeRedirection } from '../../../system/stdout/private-stdout.ts';
import { withTimeout } from '../../../system/with-timeout.ts';
import type { ExtensionFactory } from '../extension-api.ts';
import { CompiledFiles } from '../modules/compiled-files.ts';
import { ModuleGraph } from '../modules/module-graph.ts';
import type { ExtensionEnvironment } from '../pi-shims/extension-environment.ts';
import { PiShims } from '../pi-shims/pi-shims.ts';
import type { ExtensionSource } from './find-extensions.ts';

/** Default time limit for loading an extension. */
export const LOAD_TIMEOUT_MS = 30_000;

export interface LoadOptions extends ExtensionEnvironment {
  /** The folder of the compile cache. */
  readonly cacheDir: string;
  readonly timeoutMs?: number;
}

/** Runs the changed modules of an extension anew and returns its exported function. Rejects with a one-line message. */
export async function loadExtension({ path }: ExtensionSource, options: LoadOptions): Promise<ExtensionFactory> {
  const { cacheDir, timeoutMs = LOAD_TIMEOUT_MS, ...environment } = options;
  completeRedirection();
  const graph = new ModuleGraph(CompiledFiles.in(cacheDir), new PiShims(environment));
  const exported = await withLoadTimeout(timeoutMs, graph.import(path)).catch((error: unknown) => {
    throw new Error(oneLine(messageOf(error)), { cause: error });
  });
  const factory = (exported as { default?: unknown } | null | undefined)?.default ?? exported;
  if (typeof factory !== 'function') throw new Error(`Extension does not export a valid factory function: ${path}`);
  return factory as ExtensionFactory;
}

/** Rejects if loading exceeds the timeout. */
export const withLoadTimeout = <T>(timeoutMs: number, work: Promise<T>): Promise<T> =>
  withTimeout(timeoutMs, work, `it did not finish loading within ${timeoutMs / 1000} seconds`);

const oneLine = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, ' ');
