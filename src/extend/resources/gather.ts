import { statSync } from 'node:fs';
import { messageOf } from '../../protocol/errors.ts';
import { realPath } from '../../system/files/real-path.ts';
import type { Place } from './places.ts';

/** More of a kind are not used. */
export const MAX_OF_A_KIND = 500;

type Warn = (warning: string) => void;

interface Kind<T> {
  /** For warnings. */
  readonly plural: string;
  readonly places: readonly Place[];
  /** The files of a folder that may be such things. */
  readonly filesIn: (folder: string, warn: Warn) => Promise<readonly string[]>;
  /** Undefined: the file is none. */
  readonly read: (path: string, place: Place, warn: Warn) => T | undefined;
  readonly isUnwanted: (path: string) => boolean;
}

/** Everything of a kind that is to be found. Of two with one name the first is used; a file counts once. */
export async function gather<T extends { readonly name: string; readonly path: string }>(
  kind: Kind<T>,
  warn: Warn,
): Promise<T[]> {
  const found = new Map<string, T>();
  const seen = new Set<string>();
  for (const place of kind.places) {
    for (const path of await filesAt(place, kind, warn)) {
      const real = realPath(path);
      if (seen.has(real) || kind.isUnwanted(path)) continue;
      seen.add(real);
      const one = readOne(path, place, { kind, warn });
      const first = one && found.get(one.name);
      if (first) warn(`${path} is left out: ${first.path} has the name ${first.name} already`);
      else if (one && found.size === MAX_OF_A_KIND) {
        warn(`${path} and what comes after it is left out: there are more than ${MAX_OF_A_KIND} ${kind.plural}`);
        return [...found.values()];
      } else if (one) found.set(one.name, one);
    }
  }
  return [...found.values()];
}

async function filesAt<T>({ path, location }: Place, { plural, filesIn }: Kind<T>, warn: Warn) {
  const stats = look(path);
  if (stats?.isDirectory()) return filesIn(path, warn);
  if (stats?.isFile() && path.endsWith('.md')) return [path];
  if (location === 'path')
    warn(`${path} is left out of the ${plural}: ${stats ? 'it is no .md file' : 'it is not there'}`);
  return [];
}

function readOne<T>(path: string, place: Place, { kind, warn }: { kind: Kind<T>; warn: Warn }): T | undefined {
  try {
    return kind.read(path, place, warn);
  } catch (error) {
    warn(`${path} is left out: ${messageOf(error)}`);
    return undefined;
  }
}

/** What is at a path, links followed; undefined where nothing is that can be seen. */
function look(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
