import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { isBelow } from './roots.ts';

/** The places of folders inside of their file systems, as a mount of each folder names them in `/proc/self/mountinfo`. */
export function mountSources(folders: readonly string[]): ReadonlyMap<string, string> {
  if (folders.length === 0) return new Map();
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, , , source = '', point = '']) => ({ source: withoutEscapes(source), point: withoutEscapes(point) }));
  return new Map(
    folders.map((folder) => {
      const { source, point } = mounts
        .filter((mount) => isBelow(folder, mount.point))
        .reduce((best, mount) => (mount.point.length >= best.point.length ? mount : best));
      return [folder, `${source === '/' ? '' : source}/${relative(point, folder)}`.replace(/(.)\/$/, '$1')];
    }),
  );
}

const withoutEscapes = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
