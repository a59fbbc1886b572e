import type { ContextFile, PromptParts } from '../session/context/system-prompt.ts';
import { contextFiles } from './context-files.ts';
import { type PromptPlaces, promptFile } from './prompt-file.ts';

/** What whoever opens the agent says about the system prompt; it wins over files. */
export interface PromptWords {
  /** In place of tau's own words and of SYSTEM.md. */
  readonly system?: string | undefined;
  /** In place of APPEND_SYSTEM.md. */
  readonly append?: readonly string[] | undefined;
  /** False: AGENTS.md and the like are left alone; or what counts in their place. */
  readonly contextFiles?: boolean | readonly ContextFile[] | undefined;
}

/** Gathers what belongs into the system prompt of a folder. */
export function promptParts(places: PromptPlaces, words: PromptWords): PromptParts {
  const appended = words.append ?? [promptFile('APPEND_SYSTEM.md', places) ?? ''];
  return {
    system: words.system ?? promptFile('SYSTEM.md', places),
    append: appended.filter((text) => text.trim() !== ''),
    contextFiles: contextIn(places, words.contextFiles),
  };
}

function contextIn(places: PromptPlaces, wish: PromptWords['contextFiles']): readonly ContextFile[] {
  if (wish === false) return [];
  return wish === undefined || wish === true ? contextFiles(places) : wish;
}
