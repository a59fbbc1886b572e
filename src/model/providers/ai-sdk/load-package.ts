import { Module } from 'node:module';
import { join } from 'node:path';
import { messageOf } from '../../../protocol/errors.ts';
import { ModelFailure } from '../../request.ts';

/** The folders that are searched for packages, before tau's own. */
export interface PackageFolders {
  readonly agentDir: string;
  /** Is omitted unless trusted: a package runs with tau's rights and gets the key. */
  readonly cwd?: string;
}

/** Imports a package. Throws `ModelFailure` if it is missing or does not load. */
export async function loadPackage(name: string, { agentDir, cwd }: PackageFolders): Promise<object> {
  for (const folder of [agentDir, ...(cwd === undefined ? [] : [cwd]), import.meta.dirname]) {
    const exported = await importFrom(folder, name);
    if (exported) return exported;
  }
  throw new ModelFailure(
    'model_error',
    `The package ${name} is not installed: npm install --prefix ${agentDir} ${installName(name)}`,
  );
}

// Imports a package as a file in that folder would; undefined if it is not installed.
async function importFrom(folder: string, name: string): Promise<object | undefined> {
  const file = join(folder, 'tau.cjs');
  try {
    return await importAs(file, name);
  } catch (error) {
    if (isMissing(error, file)) return undefined;
    throw new ModelFailure('model_error', `The package ${name} cannot be loaded: ${messageOf(error)}`);
  }
}

/** Imports a module as this file would; the file need not exist. */
export function importAs(file: string, name: string): Promise<object> {
  // Node resolves a name only relative to the importing file.
  const resolver = new Module(file) as Module & { _compile: (code: string, file: string) => void };
  resolver._compile('module.exports = (name) => import(name)', file);
  return resolver.exports(name);
}

// Only the package itself, not one of its dependencies.
const isMissing = (error: unknown, file: string) =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  error.message.endsWith(`imported from ${file}`);

// Without the path inside the package.
const installName = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
