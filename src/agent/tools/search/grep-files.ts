import { basename, dirname } from 'node:path';
import { TEMPORARY_NAMES } from '../../../system/files/atomic-write.ts';
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
  readonly path: string;
  readonly glob: string | undefined;
  readonly ignoreCase: boolean;
  readonly literal: boolean;
  readonly context: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Searches files and returns the first matching lines in path order. */
export async function searchFiles(request: GrepRequest): Promise<ToolOutput> {
  const { path, limit, signal } = request;
  const isFolder = await isSearchableFolder(path);
  if (!isFolder) await checkRegularFile(path);
  const folder = isFolder ? path : dirname(path);
  const glob = isFolder ? request.glob : undefined;
  const matches = new GrepMatches({ limit, context: request.context, includesFile: globFilter(glob) });
  const target = isFolder ? './' : `./${basename(path)}`;
  const message = await runRipgrep({
    args: [
      ...ripgrepFlags(request),
      ...ignoreFlags(folder),
      ...nameFilterFlags(glob),
      `--regexp=${request.pattern}`,
      target,
    ],
    cwd: folder,
    signal,
    onLine: (line) => matches.add(line),
  });
  if (!matches.isEmpty) return matches.output();
  return textOutput(message && !isFolder ? printableName(message.slice('./'.length)) : 'No matches found');
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
