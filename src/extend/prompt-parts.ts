import type { ContextFile, PromptParts } from '../session/context/system-prompt.ts';
import { contextFiles } from './context-files.ts';
import { type PromptLocations, findPromptFile } from './prompt-file.ts';

// System prompt settings of the embedder or command line; they override files.
export interface SystemPromptOverrides {
  // Replaces tau's own prompt and SYSTEM.md.
  readonly system?: string | undefined;
  // Replaces APPEND_SYSTEM.md.
  readonly append?: readonly string[] | undefined;
  // False ignores AGENTS.md and its kin; a list replaces them.
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
