import { realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// Endings that an import may omit, the likeliest first.
const ENDINGS = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.tsx', '.jsx', '.json'];

// An import of TypeScript may use the ending of the compiled JavaScript.
const TS_ENDINGS: Readonly<Record<string, string>> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts', '.jsx': '.tsx' };

/** True for relative and absolute paths and `file:` URLs, false for package names. */
export const isPath = (specifier: string): boolean => /^(?:\.{1,2}(?:\/|$)|\/|file:)/.test(specifier);

/** The file that an import path refers to. Throws if there is none. */
export function resolvePath(specifier: string, from: string): string {
  const plain = specifier.replace(/[?#].*$/, '');
  const path = plain.startsWith('file:') ? fileURLToPath(plain) : resolve(dirname(from), plain);
  const found = plain.endsWith('/') ? undefined : (withAnyEnding(path) ?? typeScriptTwin(path));
  const file = found ?? folderIndex(path);
  if (file === undefined) throw new Error(`Cannot find module '${specifier}' imported from ${from}`);
  return realpathSync(file);
}

/** The file that `require` would load for a package; undefined if there is none. */
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

// Excludes pipes: reading one may never end.
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}
