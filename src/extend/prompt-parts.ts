import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ContextFile, PromptParts } from '../session/context/system-prompt.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { realPath } from '../system/files/real-path.ts';
import { HIDDEN_TARGET, leadsToHiddenFile } from './hidden-links.ts';
import { findPromptFile, type PromptLocations, tryReadPromptFile } from './prompt-file.ts';
import { foldersUpToRepository, leadsOutOfProject, OUT_OF_PROJECT } from './repository-folders.ts';

/** System prompt settings of the embedder or command line; they override files. */
export interface SystemPromptOverrides {
  /** Replaces tau's own prompt and SYSTEM.md. */
  readonly system?: string | undefined;
  /** Replaces APPEND_SYSTEM.md. */
  readonly append?: readonly string[] | undefined;
  /** False ignores AGENTS.md and its kin; a list replaces them. */
  readonly contextFiles?: boolean | readonly ContextFile[] | undefined;
}

/** Collects the parts of the system prompt for a folder. */
export function promptParts(locations: PromptLocations, overrides: SystemPromptOverrides): PromptParts {
  const appended = overrides.append ?? [findPromptFile('APPEND_SYSTEM.md', locations) ?? ''];
  return {
    system: overrides.system ?? findPromptFile('SYSTEM.md', locations),
    append: appended.filter((text) => text.trim() !== ''),
    contextFiles: contextOf(locations, overrides.contextFiles),
  };
}

function contextOf(locations: PromptLocations, given: SystemPromptOverrides['contextFiles']): readonly ContextFile[] {
  if (given === false) return [];
  return given === undefined || given === true ? contextFiles(locations) : given;
}

// Each folder contributes the first of these that is a file.
const CONTEXT_FILE_NAMES = ['AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD', 'CLAUDE.md', 'CLAUDE.MD'];

/**
 * The context files for the system prompt: the agent folder first, then all folders from the root down; no file twice.
 * Links to hidden files are left out; without trust also links out of the project, and out of the folders above it.
 */
export function contextFiles(locations: PromptLocations): ContextFile[] {
  const { agentDir, cwd } = locations;
  const seen = new Set<string>();
  const reasonAgainst = linkTest(locations);
  return [agentDir, ...foldersDownTo(resolve(cwd))].flatMap((folder) => {
    for (const name of CONTEXT_FILE_NAMES) {
      const path = join(folder, name);
      const text = tryReadPromptFile(path);
      if (text === undefined || reasonAgainst(folder, path) !== undefined) continue;
      const real = realPath(path);
      if (seen.has(real) || text.trim() === '') return [];
      seen.add(real);
      return [{ path, text }];
    }
    return [];
  });
}

/** The context files that are left out, because they are links to places that the model must not see. */
export function forbiddenContextFiles(locations: PromptLocations): { path: string; reason: string }[] {
  const reasonAgainst = linkTest(locations);
  return foldersDownTo(resolve(locations.cwd)).flatMap((folder) =>
    CONTEXT_FILE_NAMES.flatMap((name) => {
      const path = join(folder, name);
      const reason = existsSync(path) ? reasonAgainst(folder, path) : undefined;
      return reason === undefined ? [] : [{ path, reason }];
    }),
  );
}

/** Returns a test that names the reason against a file in a folder: a link to a hidden file, or out of its place. */
function linkTest({ trusted, ...places }: PromptLocations) {
  const { agentDir, cwd } = places;
  const project = trusted ? [] : foldersUpToRepository(resolve(cwd));
  return (folder: string, path: string): string | undefined => {
    if (leadsToHiddenFile(path, places)) return HIDDEN_TARGET;
    if (trusted) return undefined;
    const leadsOut = project.includes(folder)
      ? leadsOutOfProject(path, resolve(cwd))
      : folder !== agentDir && !isPathInside(folder, path);
    return leadsOut ? OUT_OF_PROJECT : undefined;
  };
}

function foldersDownTo(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...foldersDownTo(parent), folder];
}
