import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { identityOf, isBelow } from './roots.ts';

const GUARDED_NAMES = new Set(['.git', '.pi']);

const CHECK = `
while [ "$1" != -- ]; do
  found=
  while read -r a b c source point rest; do [ "$point" = "$1" ] && found=$source; done </proc/self/mountinfo
  case $found in
    '') found=missing ;;
    "$2") found= ;;
    *) [ "$2" ] || found= ;;
  esac
  [ "$found" ] && { echo "tau: $1 was replaced while the sandbox was made" >&2; exit 126; }
  shift 2
done
shift
exec "$@"`;

// The stdin of a command is /dev/null as this process opened it. Through that descriptor root without any capability could
// change the mode of the host's /dev/null; inside it is read-only.
const OWN_STDIN = process.getuid?.() === 0 ? ' </dev/null' : '';

/**
 * The first program in the view.
 *
 * bwrap follows links. A `.git` that did not exist when the first command began is no mount in the view of a running
 * one, which can exchange it with a link while bwrap mounts: then the folder of the host behind the link covers a folder
 * of the view. So this program looks for the mount before the command runs. A root whose parents another sandbox can
 * change is looked for with the folder that is mounted there.
 */
export class Entry {
  #first: ReadonlyMap<string, string | undefined> | undefined;

  /**
   * The command line before the command; `view`: the arguments of bwrap, `sources`: the places of folders that another
   * sandbox may exchange as well.
   */
  before(view: readonly string[], sources: ReadonlyMap<string, string>): string[] {
    const paths = guardedIn(view);
    this.#first ??= new Map(paths.map((path) => [path, identityOf(path)]));
    const first = this.#first;
    const late = paths.filter((path) => first.get(path) === undefined || first.get(path) !== identityOf(path));
    const expected = [...sources, ...late.map((path): [string, string] => [path, ''])].flat().map(asInMountinfo);
    return expected.length + OWN_STDIN.length === 0
      ? []
      : ['/bin/sh', '-c', `${CHECK}${OWN_STDIN}`, 'sh', ...expected, '--'];
  }
}

/** The paths that the view makes read-only, although commands may change the folder around them. */
const guardedIn = (view: readonly string[]): string[] =>
  view.filter(
    (path, index) => view[index - 2] === '--ro-bind' && view[index - 1] === path && GUARDED_NAMES.has(basename(path)),
  );

const asInMountinfo = (path: string) =>
  path.replaceAll(/[ \t\n\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);

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
