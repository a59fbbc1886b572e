import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ContextFile, PromptParts } from '../session/context/system-prompt.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { realPath } from '../system/files/real-path.ts';
import { findPromptFile, type PromptLocations, tryReadPromptFile } from './prompt-file.ts';
import { foldersUpToRepository, leadsOutOfProject } from './repository-folders.ts';

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
 * Without trust, links out of the project are left out, and so are links out of the folders above it.
 */
export function contextFiles({ agentDir, cwd, trusted }: PromptLocations): ContextFile[] {
  const seen = new Set<string>();
  const isForbidden = trusted ? () => false : linkTest({ agentDir, cwd });
  return [agentDir, ...foldersDownTo(resolve(cwd))].flatMap((folder) => {
    for (const name of CONTEXT_FILE_NAMES) {
      const path = join(folder, name);
      const text = tryReadPromptFile(path);
      if (text === undefined || isForbidden(folder, path)) continue;
      const real = realPath(path);
      if (seen.has(real) || text.trim() === '') return [];
      seen.add(real);
      return [{ path, text }];
    }
    return [];
  });
}

/** The context files that are left out without trust, because they lead out of the project or out of their folder. */
export function forbiddenContextFiles({ agentDir, cwd, trusted }: PromptLocations): string[] {
  if (trusted) return [];
  const isForbidden = linkTest({ agentDir, cwd });
  return foldersDownTo(resolve(cwd)).flatMap((folder) =>
    CONTEXT_FILE_NAMES.map((name) => join(folder, name)).filter(
      (path) => existsSync(path) && isForbidden(folder, path),
    ),
  );
}

/** Returns a test for files in a folder that are links out of the project, or out of a folder above it. */
function linkTest({ agentDir, cwd }: Pick<PromptLocations, 'agentDir' | 'cwd'>) {
  const project = foldersUpToRepository(resolve(cwd));
  return (folder: string, path: string): boolean => {
    if (project.includes(folder)) return leadsOutOfProject(path, resolve(cwd));
    return folder !== agentDir && !isPathInside(folder, path);
  };
}

function foldersDownTo(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...foldersDownTo(parent), folder];
}
