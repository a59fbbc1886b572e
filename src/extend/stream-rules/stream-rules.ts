import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';
import type { Settings } from '../../store/settings.ts';

export interface RulePlaces {
  readonly agentDir: string;
  readonly cwd: string;
  readonly trusted: boolean;
}

export interface RuleHome {
  /** Of the session that the agent is in. */
  readonly transcript: () => Transcript;
  readonly settings: () => Settings;
  readonly publish: (event: AgentEvent) => void;
}

/** Rules that watch what the model says while it says it. */
export class StreamRules {
  readonly hooks: SessionHooks = {};
  /** What is wrong with the files. */
  readonly warnings: readonly string[] = [];

  constructor(_places: RulePlaces, _home: RuleHome) {}
}
