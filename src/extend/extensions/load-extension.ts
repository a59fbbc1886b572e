import type { ExtensionFactory } from './extension-api.ts';
import type { ExtensionSource } from './find-extensions.ts';

/** Runs the file of an extension; answers what it exports. */
export async function loadExtension(
  _source: ExtensionSource,
  _options: { cacheDir: string },
): Promise<ExtensionFactory> {
  throw new Error('Extensions cannot be loaded yet');
}
