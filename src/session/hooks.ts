import type { AgentHooks } from '../agent/hooks.ts';
import type { AgentMessage, ImageContent, Model } from '../protocol/generated/vocabulary.ts';

/** What a client said, before it becomes a message. */
export interface Input {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

export interface RunEnd {
  readonly runId: string;
  readonly outcome: 'ok' | 'error' | 'aborted' | 'budget';
}

/**
 * Where others may step into a session. Absent hooks do nothing. Those that may say no return `cancel`; those that may
 * replace their subject return the replacement; `undefined` changes nothing.
 */
export interface SessionHooks extends AgentHooks {
  readonly sessionStart?: (reason: 'startup' | 'new' | 'resume' | 'fork') => Promise<void>;
  readonly sessionShutdown?: (reason: 'quit' | 'new' | 'resume' | 'fork') => Promise<void>;
  /** Not called yet. */
  readonly resourcesDiscover?: (cwd: string) => Promise<void>;
  /** Not called yet. */
  readonly projectTrust?: (cwd: string) => Promise<boolean | undefined>;
  /** Sees raw input first. `handled`: nothing is left to do. */
  readonly input?: (input: Input) => Promise<'handled' | Input | undefined>;
  /** Turns skill and template words into what they stand for. */
  readonly expand?: (input: Input) => Promise<Input | undefined>;
  readonly systemPrompt?: (prompt: string) => Promise<string | undefined>;
  /** Messages that go to the model right after the one that opens a run. Not called yet. */
  readonly beforeAgentStart?: (input: AgentMessage) => Promise<readonly AgentMessage[] | undefined>;
  /** Not called yet. */
  readonly userBash?: (command: string) => Promise<{ output: string; exitCode: number } | undefined>;
  /** The last word before a run settles. */
  readonly beforeSettle?: (end: RunEnd) => Promise<void>;
  /** Not called yet. */
  readonly beforeCompact?: (customInstructions: string | undefined) => Promise<{ cancel: true } | undefined>;
  /** Not called yet. */
  readonly beforeTree?: (targetId: string) => Promise<{ cancel: true } | undefined>;
  readonly beforeSwitch?: (to: {
    reason: 'new' | 'resume';
    sessionFile?: string;
  }) => Promise<{ cancel: true } | undefined>;
  readonly beforeFork?: (entryId: string | null) => Promise<{ cancel: true } | undefined>;
  readonly modelSelect?: (model: Model, previous: Model | null) => Promise<void>;
}
