import { basename, dirname } from 'node:path';
import { TEMPORARY_NAMES } from '../../../system/files/atomic-write.ts';
import type { FileAccess, Permission } from '../../permission.ts';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { checkRegularFile, isSearchableFolder } from '../file-checks.ts';
import { printableName } from '../result-lines.ts';
import { MAX_OUTPUT_LINES } from '../truncate.ts';
import { fileGlob } from './glob.ts';
import { GrepMatches, MAX_LINE_CHARACTERS } from './grep-matches.ts';
import { isInRepository } from './ignore-rules.ts';
import { runRipgrep } from './ripgrep.ts';

// UTF-8 uses at most this many bytes per character.
const MAX_CHARACTER_BYTES = 4;

interface GrepRequest {
  readonly pattern: string;
  /** As the model wrote it. */
  readonly shownPath: string;
  readonly path: string;
  readonly permission?: Permission | undefined;
  readonly glob: string | undefined;
  readonly ignoreCase: boolean;
  readonly literal: boolean;
  readonly context: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Searches files and returns the first matching lines in path order. */
export async function searchFiles(request: GrepRequest): Promise<ToolOutput> {
  const { limit, signal, permission } = request;
  const scope = permission?.files && (await visibleScope(request, permission.files));
  const path = scope?.root ?? request.path;
  const isFolder = await isSearchableFolder(path);
  if (!isFolder) await checkRegularFile(path);
  const folder = isFolder ? path : dirname(path);
  const glob = isFolder ? request.glob : undefined;
  const passesGlob = globFilter(glob);
  const mayShow = isFolder ? scope?.mayShow : undefined;
  const includesFile = mayShow ? (file: string) => passesGlob(file) && mayShow(file) : passesGlob;
  const matches = new GrepMatches({ limit, context: request.context, includesFile });
  const searched = scope?.searchedPath ?? path;
  const message = await runRipgrep({
    args: [
      ...ripgrepFlags(request),
      ...ignoreFlags(folder),
      ...(scope?.flags ?? []),
      ...nameFilterFlags(glob),
      `--regexp=${request.pattern}`,
      isFolder ? './' : `./${basename(searched)}`,
    ],
    cwd: isFolder ? searched : dirname(searched),
    signal,
    sandbox: permission?.sandbox,
    onLine: (line) => matches.add(line),
  });
  if (!matches.isEmpty) return matches.output();
  return textOutput(message && !isFolder ? printableName(message.slice('./'.length)) : 'No matches found');
}

/** The scope of a search with limited access. Only a sandbox keeps ripgrep from a file that is swapped meanwhile. */
interface VisibleScope {
  readonly root: string;
  /** The root as ripgrep sees it: the sandbox has a `/tmp` of its own. */
  readonly searchedPath: string;
  readonly flags: readonly string[];
  readonly mayShow: (path: string) => boolean;
}

async function visibleScope(request: GrepRequest, files: FileAccess): Promise<VisibleScope> {
  const { readableBelow, readableRoot } = await import('../guarded-files.ts');
  const target = files.translate(request.path);
  const root = readableRoot({ path: request.shownPath, target, files });
  const isElsewhereInside = request.permission?.sandbox !== undefined && target !== request.path;
  return {
    root,
    searchedPath: isElsewhereInside ? request.path : root,
    flags: (files.hidden ?? []).flatMap((hidden) => exclusionOf(root, hidden)),
    mayShow: readableBelow(root, files),
  };
}

function exclusionOf(root: string, hidden: string): string[] {
  const prefix = root === '/' ? '/' : `${root}/`;
  if (!hidden.startsWith(prefix)) return [];
  return [`--glob=!/${hidden.slice(prefix.length).replaceAll(/[\\*?[\]{}!]/g, '\\$&')}`];
}

/** Flags for ripgrep: one thread gives a stable order and streams without delay. */
function ripgrepFlags({ ignoreCase, literal, context, limit }: GrepRequest): string[] {
  return [
    '--sort=path',
    '--no-heading',
    '--with-filename',
    '--null',
    '--line-number',
    '--color=never',
    '--crlf',
    '--no-context-separator',
    `--max-columns=${MAX_CHARACTER_BYTES * MAX_LINE_CHARACTERS}`,
    '--max-columns-preview',
    `--max-count=${Math.min(limit, MAX_OUTPUT_LINES) + 1}`,
    `--context=${Math.min(context, MAX_OUTPUT_LINES)}`,
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(literal ? ['--fixed-strings'] : []),
  ];
}

/** Only the .gitignore files of the project count, not those of this machine. */
const ignoreFlags = (folder: string): string[] => [
  '--hidden',
  '--glob=!.git',
  `--glob=!${TEMPORARY_NAMES}`,
  '--no-ignore-dot',
  '--no-ignore-exclude',
  '--no-ignore-global',
  // In a repository ripgrep would also read .gitignore files above it.
  ...(isInRepository(folder) ? [] : ['--no-require-git']),
];

/**
 * Limits ripgrep to files whose names match; `globFilter` checks the rest of the path. A ripgrep glob cannot be used:
 * it overrides ignore rules.
 */
function nameFilterFlags(glob: string | undefined): string[] {
  const [, folders = '', name = ''] = /^(.*\/)?(.*)$/s.exec(glob ?? '') ?? [];
  if (name === '' || name.startsWith('!') || /[!{]/.test(folders)) return [];
  return [`--type-add=wanted:${name}`, '--type=wanted'];
}

function globFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const isNegated = glob.startsWith('!');
  const matches = fileGlob(isNegated ? glob.slice(1) : glob);
  return (path) => matches(path, false) !== isNegated;
}
