import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { SkillListing } from '../../session/system-prompt.ts';

export interface ResourcePlaces {
  readonly agentDir: string;
  readonly home: string;
  readonly cwd: string;
  /** Files and folders that were named, by settings, flags or extensions. */
  readonly skillPaths: readonly string[];
  readonly promptPaths: readonly string[];
  /** False: only what is named. */
  readonly findSkills: boolean;
  readonly findTemplates: boolean;
}

/** Skills and prompt templates. */
export class Resources {
  readonly hooks: SessionHooks = {};
  readonly warnings: readonly string[] = [];
  readonly commands: readonly SlashCommand[] = [];
  /** Those that the model may choose by itself. */
  readonly listings: readonly SkillListing[] = [];

  constructor(_places: ResourcePlaces, _onFailure: (path: string, event: string, error: unknown) => void) {}
}
