import { statSync } from 'node:fs';
import { messageOf } from '../../protocol/errors.ts';
import { realPath } from '../../system/files/real-path.ts';
import type { ResourceRoot } from './search-roots.ts';

/** Names why a file must not be read; undefined if it may be. */
export type ReasonAgainst = (path: string, root: ResourceRoot) => string | undefined;

/** Limit of skills, and of templates. */
export const MAX_PER_KIND = 500;

type Warn = (warning: string) => void;

interface Kind<T> {
  // For warnings.
  readonly plural: string;
  readonly roots: readonly ResourceRoot[];
  // The candidate files of a folder.
  readonly filesIn: (folder: string, warn: Warn) => Promise<readonly string[]>;
  // Undefined if the file is not a resource of this kind.
  readonly read: (path: string, root: ResourceRoot, warn: Warn) => T | undefined;
  readonly isExcluded: (path: string) => boolean;
  readonly reasonAgainst: ReasonAgainst;
}

/** Collects all resources of a kind. Of two with one name the first is used, and no file is read twice. */
export async function gather<T extends { readonly name: string; readonly path: string }>(
  kind: Kind<T>,
  warn: Warn,
): Promise<T[]> {
  const found = new Map<string, T>();
  const seen = new Set<string>();
  for (const root of kind.roots) {
    for (const path of await filesAt(root, kind, warn)) {
      const real = realPath(path);
      if (seen.has(real) || kind.isExcluded(path)) continue;
      seen.add(real);
      const reason = kind.reasonAgainst(path, root);
      if (reason !== undefined) {
        warn(`${path} is left out: ${reason}`);
        continue;
      }
      const resource = readOne(path, root, { kind, warn });
      const first = resource && found.get(resource.name);
      if (first) warn(`${path} is left out: ${first.path} has the name ${first.name} already`);
      else if (resource && found.size === MAX_PER_KIND) {
        warn(`${path} and all after it are left out: there are more than ${MAX_PER_KIND} ${kind.plural}`);
        return [...found.values()];
      } else if (resource) found.set(resource.name, resource);
    }
  }
  return [...found.values()];
}

async function filesAt<T>({ path, location }: ResourceRoot, { plural, filesIn }: Kind<T>, warn: Warn) {
  const stats = statIfVisible(path);
  if (stats?.isDirectory()) return filesIn(path, warn);
  if (stats?.isFile() && path.endsWith('.md')) return [path];
  if (location === 'path')
    warn(`${path} is left out of the ${plural}: ${stats ? 'it is no .md file' : 'it is not there'}`);
  return [];
}

function readOne<T>(path: string, root: ResourceRoot, { kind, warn }: { kind: Kind<T>; warn: Warn }): T | undefined {
  try {
    return kind.read(path, root, warn);
  } catch (error) {
    warn(`${path} is left out: ${messageOf(error)}`);
    return undefined;
  }
}

// Follows links; undefined if the path is missing or inaccessible.
function statIfVisible(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
