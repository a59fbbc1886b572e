import type { AgentEvent, TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';

/** What todos need of the agent they belong to. */
export interface TodoHome {
  /** Of the session that the agent is in. */
  readonly transcript: () => Transcript;
  readonly publish: (event: AgentEvent) => void;
  /** Does something that changes the state, and tells clients of it. */
  readonly change: (work: () => void) => void;
}

/** The plan of a session. */
export class Todos {
  readonly hooks: SessionHooks = {};

  constructor(_home: TodoHome) {}

  get phases(): readonly TodoPhase[] {
    return [];
  }

  /** The agent is in another session. */
  entered(): void {}

  close(): void {}
}
