import type { PromptParts } from '../session/system-prompt.ts';
import { contextFiles } from './context-files.ts';
import { type PromptPlaces, promptFile } from './prompt-file.ts';

/** What whoever opens the agent says about the system prompt; it wins over files. */
export interface PromptWords {
  /** In place of tau's own words and of SYSTEM.md. */
  readonly system?: string | undefined;
  /** In place of APPEND_SYSTEM.md. */
  readonly append?: readonly string[] | undefined;
  /** False: AGENTS.md and the like are left alone. */
  readonly contextFiles?: boolean | undefined;
}

/** Gathers what belongs into the system prompt of a folder. */
export function promptParts(places: PromptPlaces, words: PromptWords): PromptParts {
  const appended = words.append ?? [promptFile('APPEND_SYSTEM.md', places) ?? ''];
  return {
    system: words.system ?? promptFile('SYSTEM.md', places),
    append: appended.filter((text) => text.trim() !== ''),
    contextFiles: words.contextFiles === false ? [] : contextFiles(places),
  };
}
