import type { ContextFile, PromptParts } from '../session/context/system-prompt.ts';
import { contextFiles } from './context-files.ts';
import { type PromptLocations, findPromptFile } from './prompt-file.ts';

/** What whoever opens the agent says about the system prompt; it wins over files. */
export interface SystemPromptOverrides {
  /** In place of tau's own words and of SYSTEM.md. */
  readonly system?: string | undefined;
  /** In place of APPEND_SYSTEM.md. */
  readonly append?: readonly string[] | undefined;
  /** False: AGENTS.md and the like are left alone; or what counts in their place. */
  readonly contextFiles?: boolean | readonly ContextFile[] | undefined;
}

/** Gathers what belongs into the system prompt of a folder. */
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
