import { mkdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import {
  existingPath,
  folderIdentity,
  foldersBetween,
  hiddenPaths,
  isBelow,
  linkStats,
  REPLACED_FOLDERS,
  type WritableRoots,
} from './roots.ts';
import type { SandboxOptions } from './sandbox.ts';
import type { SessionFiles } from './session-files.ts';
import { GUARDED_IN_GIT } from './stubs.ts';

/** The reasons for which a command sees a file or not. */
export interface ViewOptions {
  readonly sandbox: SandboxOptions;
  readonly writable: WritableRoots;
  readonly files: Pick<SessionFiles, 'tmp' | 'empty'>;
  /** `.git` folders that commands may write to, by identity. */
  readonly gitFolders: ReadonlyMap<string, string>;
  /** Whether a path leads through a link that a command may have made. */
  readonly isLed: (path: string) => boolean;
  /** Where the command starts. */
  readonly cwd: string;
  /** PATH of the command. */
  readonly path: string | undefined;
}

type Arguments = string[];

// Links there lead to the programs and libraries of NixOS.
const LINKS_IN_RUN = ['/run/current-system', '/run/booted-system', '/run/opengl-driver'];

/**
 * The mounts of one command, as arguments of bwrap, from what exists now.
 *
 * The order is the protection. Binds that can be written come from folders that no earlier command could replace by a
 * link. Masks come after every path that a command may have changed meanwhile, so that none is uncovered again; only
 * masks that contain a root or the folder of the command come before it.
 */
export function viewArguments(options: ViewOptions): string[] {
  const { sandbox, writable, files, cwd } = options;
  const roots = writable.roots.filter(isFolder).filter((root) => !hasLinkedProject(root, writable.projects));
  const masks = masksOf(options, roots);
  const shown = shownFolders(options, [...REPLACED_FOLDERS, ...masks]).filter((path) => !isInside(path, roots));
  const containsRoot = (mask: string) => [...roots, ...shown].some((root) => isBelow(root, mask));
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', files.tmp, '/tmp'],
    ...['--tmpfs', '/run', '--tmpfs', '/dev/shm'],
    ...keptInRun(sandbox),
    ...masks.filter(containsRoot).flatMap((path) => mask(path, files.empty)),
    ...shown.flatMap((path) => [...pinsInTmp(path, files.tmp), '--ro-bind', path, path]),
    ...roots.flatMap((root) => [...pinsInTmp(root, files.tmp), '--bind', root, root]),
    ...writable.pins.flatMap(({ path, identity }) =>
      isInside(path, roots) && folderIdentity(path) === identity ? ['--bind', path, path] : [],
    ),
    ...writable.projects.filter((path) => isInside(path, roots)).flatMap((path) => protectedIn(path, options)),
    ...masks.filter((path) => !containsRoot(path)).flatMap((path) => mask(path, files.empty)),
    ...programFolders(options, ['/tmp', ...masks]).flatMap((path) => ['--ro-bind', path, path]),
    ...readableBelow(options, ['/tmp', ...masks]).flatMap(([content, path]) => ['--ro-bind', content, path]),
    ...[...masks.filter(isFolder), ...ownedByRoot()].flatMap((path) => ['--remount-ro', path]),
    ...['--chdir', cwd],
  ];
}

// Root without any capability still owns /proc/sys/kernel/core_pattern, which names a program that the host runs. For
// others a read-only /proc would only prevent sandboxes inside of this one.
const ownedByRoot = () => (process.getuid?.() === 0 ? ['/proc'] : []);

const isInside = (path: string, roots: readonly string[]) => roots.some((root) => isBelow(path, root));

const isFolder = (path: string) => folderIdentity(path) !== undefined;

const isLink = (path: string) => linkStats(path)?.isSymbolicLink() ?? false;

/** A link can be replaced but not mounted over: a root with a linked `.git` or `.pi` stays read-only. */
const hasLinkedProject = (root: string, projects: readonly string[]) =>
  projects.some((path) => isBelow(path, root) && (isLink(join(path, '.git')) || isLink(join(path, '.pi'))));

function masksOf({ sandbox, cwd }: ViewOptions, roots: readonly string[]): string[] {
  const temporary = existingPath(tmpdir()) ?? '/tmp';
  // Files of other sandboxes and pipes of tau lie there.
  const paths = isBelow(sandbox.home, temporary) ? hiddenPaths(sandbox) : [...hiddenPaths(sandbox), temporary];
  const shown = [...roots, ...[sandbox.cwd, cwd].flatMap((path) => existingPath(path) ?? [])];
  /** Whether a root or the folder of the command makes the path visible again below the folder. */
  const isShownBelow = (path: string, folder: string) =>
    shown.some((root) => root !== folder && isBelow(root, folder) && isBelow(path, root));
  const covers = (folder: string, path: string) => isBelow(path, folder) && !isShownBelow(path, folder);
  return (
    paths
      // A mask over a path below would fail.
      .filter((path) => !REPLACED_FOLDERS.some((folder) => covers(folder, path)))
      .filter((path) => !paths.some((other) => other !== path && covers(other, path)))
  );
}

/** Folders in which the command starts, where the view would cover them. */
function shownFolders({ sandbox, cwd, isLed }: ViewOptions, covers: readonly string[]): string[] {
  const named = [sandbox.cwd, cwd].filter((path) => !isLed(path));
  const folders = new Set(named.flatMap((path) => existingPath(path) ?? []));
  return [...folders].filter((path) => !covers.includes(path) && covers.some((folder) => isBelow(path, folder)));
}

const mask = (path: string, empty: string): Arguments =>
  isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', empty, path];

function keptInRun({ network }: SandboxOptions): Arguments {
  const links = LINKS_IN_RUN.filter(isLink).flatMap((path) => ['--symlink', readlinkSync(path), path]);
  const resolver = network === 'open' ? existingPath('/etc/resolv.conf') : undefined;
  return resolver !== undefined && isBelow(resolver, '/run') ? [...links, '--ro-bind', resolver, resolver] : links;
}

/** Keeps commands from renaming the folders above a root in `/tmp`, which are theirs. */
function pinsInTmp(root: string, tmp: string): Arguments {
  return foldersBetween('/tmp', root).flatMap((path) => {
    const source = join(tmp, path.slice('/tmp/'.length));
    mkdirSync(source, { recursive: true });
    return ['--bind', source, path];
  });
}

function protectedIn(project: string, { gitFolders }: ViewOptions): Arguments {
  const [git, pi] = [join(project, '.git'), join(project, '.pi')];
  const readOnly = (path: string) => (linkStats(path) && !isLink(path) ? ['--ro-bind', path, path] : []);
  const identity = gitFolders.get(git);
  const isWritable = identity !== undefined && folderIdentity(git) === identity;
  const gitArguments = isWritable
    ? ['--bind', git, git, ...GUARDED_IN_GIT.flatMap((name) => readOnly(join(git, name)))]
    : readOnly(git);
  return [...gitArguments, ...readOnly(pi)];
}

/** Readable files and folders below masks: their content, and where the view shows it. */
function readableBelow(
  { sandbox, writable, isLed }: ViewOptions,
  masks: readonly string[],
): [content: string, path: string][] {
  return (sandbox.readable ?? []).flatMap((path) => {
    if (isLed(path)) return [];
    const [content, folder] = [existingPath(path), existingPath(dirname(path))];
    const isMasked = folder !== undefined && masks.some((hidden) => isBelow(folder, hidden));
    if (content === undefined || !isMasked || isInside(folder, writable.roots)) return [];
    return [[content, join(folder, basename(path))]];
  });
}

/** Folders of PATH inside hidden ones, such as tau's programs in the agent folder. */
function programFolders({ path, writable, isLed }: ViewOptions, masks: readonly string[]): string[] {
  return (path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isLed(folder))
    .flatMap((folder) => existingPath(folder) ?? [])
    .filter((folder) => !isInside(folder, writable.roots) && !masks.includes(folder))
    .filter((folder, index, all) => all.indexOf(folder) === index && masks.some((hidden) => isBelow(folder, hidden)));
}
