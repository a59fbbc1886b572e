import type { AgentHooks, Continuation, HookMessage } from '../agent/hooks.ts';
import type { LoopEvent } from '../agent/loop.ts';
import type {
  AgentEndEvent,
  AgentMessage,
  AgentSettledEvent,
  BranchSummaryEntry,
  CompactionEndEvent,
  CompactionEntry,
  ImageContent,
  Model,
  Result,
  RunOutcome,
  SessionEntry,
  ThinkingLevel,
} from '../protocol/generated/vocabulary.ts';
import type { FileOperations } from './compaction/files.ts';
import type { ContextLimits } from './compaction/limits.ts';

/** Text and images of a user, before they become a message. */
export interface UserInput {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/** Input with its source and how it joins an active run. */
export interface RawInput extends UserInput {
  readonly source: 'rpc' | 'interactive' | 'extension';
  readonly streamingBehavior: 'steer' | 'followUp' | undefined;
}

/** Why an agent opened this session. */
export type StartReason = 'startup' | 'reload' | 'new' | 'resume' | 'fork';

export interface SessionStart {
  reason: StartReason;
  previousSessionFile?: string | undefined;
}

/** Why an agent leaves the session. */
export type EndReason = 'quit' | 'reload' | 'new' | 'resume' | 'fork';

/** Every event of a run: those of the loop, then `agent_end` and `agent_settled`. */
export type RunEvent = LoopEvent | AgentEndEvent | AgentSettledEvent;

interface Cancelled {
  readonly cancel: true;
}

/** A summary that a hook supplies. */
export interface Summary {
  readonly summary: string;
  readonly details?: unknown;
}

type CompactionReason = CompactionEndEvent['reason'];

/** A compaction before it starts. */
export interface CompactionPlan {
  readonly branch: readonly SessionEntry[];
  readonly reason: CompactionReason;
  /** Whether the model is called again afterwards. */
  readonly willRetry: boolean;
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  /** The start of a turn whose end is kept. */
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly isSplitTurn: boolean;
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
  readonly tokensBefore: number;
  readonly settings: ContextLimits & { readonly enabled: boolean };
  readonly customInstructions?: string | undefined;
}

/** A compaction that failed or was aborted. */
export interface CompactionFailure {
  readonly reason: CompactionReason;
  /** Absent after an abort. */
  readonly errorMessage?: string | undefined;
  readonly aborted: boolean;
  /** Whether the model would have been called again. */
  readonly willRetry: boolean;
  readonly fromHook: boolean;
}

/** A move of the leaf to another entry, before it happens. */
export interface TreePlan {
  readonly targetId: string;
  readonly oldLeafId: string | null;
  readonly commonAncestorId: string | null;
  /** The branch below the common ancestor, oldest entry first. */
  readonly entriesToSummarize: readonly SessionEntry[];
  readonly userWantsSummary: boolean;
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  readonly label?: string | undefined;
}

export type TreeHookResult =
  | Cancelled
  | (Partial<Summary> & { customInstructions?: string; replaceInstructions?: boolean; label?: string });

/** A completed move of the leaf. */
export interface TreeMove {
  readonly newLeafId: string | null;
  readonly oldLeafId: string | null;
  readonly summaryEntry?: BranchSummaryEntry | undefined;
  readonly fromHook: boolean;
}

/**
 * Extension points of a session. Absent hooks do nothing. A hook that may refuse returns `cancel`; one that may replace
 * its subject returns the replacement; `undefined` changes nothing. The rules of `AgentHooks` apply.
 */
export interface SessionHooks extends AgentHooks {
  /** Receives each event of a run before the clients do; only `agent_settled` comes after them. */
  readonly observe?: (event: RunEvent, signal: AbortSignal) => Promise<void> | undefined;

  // Called outside of runs: a rejection is ignored.

  /** Called once clients can receive events; session commands wait for it. */
  readonly sessionStart?: (start: SessionStart) => Promise<void>;
  readonly sessionShutdown?: (end: { reason: EndReason; targetSessionFile?: string | undefined }) => Promise<void>;
  /** An abort during the call cancels the switch. */
  readonly beforeSwitch?: (
    to: { reason: 'new' | 'resume'; targetSessionFile?: string | undefined },
    signal: AbortSignal,
  ) => Promise<Cancelled | undefined>;
  /** `before` leaves the entry out of the copy, `at` makes it the last one. An abort cancels the fork. */
  readonly beforeFork?: (
    from: { entryId: string; position: 'before' | 'at' },
    signal: AbortSignal,
  ) => Promise<Cancelled | undefined>;
  readonly modelSelect?: (choice: {
    model: Model;
    previousModel: Model | null;
    source: 'set' | 'cycle' | 'restore';
  }) => Promise<void>;
  readonly nameChange?: (name: string | undefined) => Promise<void>;
  readonly thinkingLevelSelect?: (choice: { level: ThinkingLevel; previousLevel: ThinkingLevel }) => Promise<void>;

  // Called for a message, a run or a command: a rejection fails it.

  /** Receives raw input first. `handled` ends its processing. */
  readonly input?: (input: RawInput, signal: AbortSignal) => Promise<'handled' | UserInput | undefined>;
  /** Replaces skill and template commands by their text. */
  readonly expand?: (input: UserInput, signal: AbortSignal) => Promise<UserInput | undefined>;
  readonly systemPrompt?: (prompt: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Before the first model call: returns messages to add after the opening ones, and a system prompt for this run. */
  readonly beforeAgentStart?: (
    start: { messages: readonly AgentMessage[]; systemPrompt: string },
    signal: AbortSignal,
  ) => Promise<{ messages?: readonly HookMessage[]; systemPrompt?: string } | undefined>;
  /** Called before a run ends. A failed or aborted run ends whatever this returns. */
  readonly beforeSettle?: (
    end: { runId: string; outcome: RunOutcome },
    signal: AbortSignal,
  ) => Promise<Continuation | undefined>;

  /** A shell command of a client; a returned result replaces its execution. */
  readonly userBash?: (
    command: { command: string; cwd: string; excludeFromContext: boolean },
    signal: AbortSignal,
  ) => Promise<Result<'bash'> | undefined>;

  /** Called before a compaction; a returned summary replaces the model's. */
  readonly beforeCompact?: (
    plan: CompactionPlan,
    signal: AbortSignal,
  ) => Promise<Cancelled | (Summary & { firstKeptEntryId: string; tokensBefore: number }) | undefined>;
  /** Called afterwards; a rejection changes nothing. */
  readonly afterCompact?: (done: {
    entry: CompactionEntry;
    fromHook: boolean;
    reason: CompactionReason;
    willRetry: boolean;
  }) => Promise<void>;
  /** Called after `compaction_end` was published; a rejection changes nothing. */
  readonly compactFailed?: (failure: CompactionFailure) => Promise<void>;

  /**
   * Called before the leaf moves. A summary is used only if the user asked for one; instructions and a label replace
   * the given ones. An abort cancels.
   */
  readonly beforeTree?: (plan: TreePlan, signal: AbortSignal) => Promise<TreeHookResult | undefined>;
  /** Called afterwards; a rejection changes nothing. */
  readonly afterTree?: (move: TreeMove) => Promise<void>;
}
