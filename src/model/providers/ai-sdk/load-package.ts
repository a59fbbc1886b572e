import { Module } from 'node:module';
import { join } from 'node:path';
import { messageOf } from '../../../protocol/errors.ts';
import { ModelFailure } from '../../request.ts';

/** Where packages are looked for, before tau's own place. */
export interface PackageFolders {
  readonly agentDir: string;
  /** To be left out where it is not trusted: a package runs as tau does, and is given the key. */
  readonly cwd?: string;
}

/** What a package exports. Throws `ModelFailure` when it is nowhere, or does not load. */
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

/** Imports a package as a file in that folder would; undefined where there is none of that name. */
async function importFrom(folder: string, name: string): Promise<object | undefined> {
  const file = join(folder, 'tau.cjs');
  try {
    return await importAs(file, name);
  } catch (error) {
    if (isMissing(error, file)) return undefined;
    throw new ModelFailure('model_error', `The package ${name} cannot be loaded: ${messageOf(error)}`);
  }
}

/** What an import of this name comes to in this file, which need not exist. */
export function importAs(file: string, name: string): Promise<object> {
  // Node resolves a name from the file that asks for it, and lets nobody else say from where.
  const resolver = new Module(file) as Module & { _compile: (code: string, file: string) => void };
  resolver._compile('module.exports = (name) => import(name)', file);
  return resolver.exports(name);
}

/** The package itself, not something that it needs. */
const isMissing = (error: unknown, file: string) =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ERR_MODULE_NOT_FOUND' &&
  error.message.endsWith(`imported from ${file}`);

/** Without the part of the package that is meant. */
const installName = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
