import { realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What may be left out at the end of a name, the likeliest first. */
const ENDINGS = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.tsx', '.jsx', '.json'];

/** TypeScript is imported by the name that its JavaScript would have. */
const TS_ENDINGS: Readonly<Record<string, string>> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts', '.jsx': '.tsx' };

/** Whether a module is named by its place, and not by its package. */
export const isPath = (specifier: string): boolean => /^(?:\.{1,2}(?:\/|$)|\/|file:)/.test(specifier);

/** The file that a path in an import means. Throws when there is none. */
export function resolvePath(specifier: string, from: string): string {
  const plain = specifier.replace(/[?#].*$/, '');
  const path = plain.startsWith('file:') ? fileURLToPath(plain) : resolve(dirname(from), plain);
  const found = plain.endsWith('/') ? undefined : (withAnyEnding(path) ?? typeScriptTwin(path));
  const file = found ?? folderIndex(path);
  if (file === undefined) throw new Error(`Cannot find module '${specifier}' imported from ${from}`);
  return realpathSync(file);
}

/** The file of a package that CommonJS would load; undefined where that finds none. */
export function resolvePackage(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

function withAnyEnding(path: string): string | undefined {
  return ['', ...ENDINGS].map((ending) => path + ending).find(isFile);
}

function typeScriptTwin(path: string): string | undefined {
  const ending = /\.[cm]?jsx?$/.exec(path)?.[0];
  const twin = ending && path.slice(0, -ending.length) + TS_ENDINGS[ending];
  return twin && isFile(twin) ? twin : undefined;
}

function folderIndex(folder: string): string | undefined {
  if (isFile(join(folder, 'package.json'))) {
    const main = resolvePackage(folder, join(folder, 'package.json'));
    if (main !== undefined) return main;
  }
  return withAnyEnding(join(folder, 'index'));
}

/** Not a pipe: reading one may never end. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}
