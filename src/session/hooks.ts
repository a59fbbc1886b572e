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

/** What somebody said, before it becomes a message. */
export interface UserInput {
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/** Input with where it comes from, and how it is to join a run that is active. */
export interface RawInput extends UserInput {
  readonly source: 'rpc' | 'interactive' | 'extension';
  readonly streamingBehavior: 'steer' | 'followUp' | undefined;
}

/** How an agent comes to a session. */
export type StartReason = 'startup' | 'reload' | 'new' | 'resume' | 'fork';

export interface SessionStart {
  reason: StartReason;
  previousSessionFile?: string | undefined;
}

/** How an agent leaves one. */
export type EndReason = 'quit' | 'reload' | 'new' | 'resume' | 'fork';

/** What a run says: everything of the loop, and how it ends. */
export type RunEvent = LoopEvent | AgentEndEvent | AgentSettledEvent;

interface Cancelled {
  readonly cancel: true;
}

/** A summary in place of what it stands for. */
export interface Summary {
  readonly summary: string;
  readonly details?: unknown;
}

/** Why a compaction is made. */
type CompactionReason = CompactionEndEvent['reason'];

/** A compaction that is about to be made. */
export interface CompactionPlan {
  readonly branch: readonly SessionEntry[];
  readonly reason: CompactionReason;
  /** Whether the model is asked again afterwards. */
  readonly willRetry: boolean;
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  /** The beginning of a turn whose end is kept. */
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly isSplitTurn: boolean;
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
  readonly tokensBefore: number;
  readonly settings: ContextLimits & { readonly enabled: boolean };
  readonly customInstructions?: string | undefined;
}

/** A compaction that came to nothing. */
export interface CompactionFailure {
  readonly reason: CompactionReason;
  /** Absent where it was stopped. */
  readonly errorMessage?: string | undefined;
  readonly aborted: boolean;
  /** Whether the model would have been asked again. */
  readonly willRetry: boolean;
  readonly fromHook: boolean;
}

/** The way to another entry of the tree. */
export interface TreePlan {
  readonly targetId: string;
  readonly oldLeafId: string | null;
  readonly commonAncestorId: string | null;
  /** What is left behind, the oldest first. */
  readonly entriesToSummarize: readonly SessionEntry[];
  readonly userWantsSummary: boolean;
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  readonly label?: string | undefined;
}

export type TreeHookResult =
  | Cancelled
  | (Partial<Summary> & { customInstructions?: string; replaceInstructions?: boolean; label?: string });

/** Where the conversation went on from. */
export interface TreeMove {
  readonly newLeafId: string | null;
  readonly oldLeafId: string | null;
  readonly summaryEntry?: BranchSummaryEntry | undefined;
  readonly fromHook: boolean;
}

/**
 * Where others may step into a session. Absent hooks do nothing. Those that may say no return `cancel`; those that may
 * replace their subject return the replacement; `undefined` changes nothing. The rules of `AgentHooks` hold here too.
 */
export interface SessionHooks extends AgentHooks {
  /** Hears what a run says, each event before the clients do; only the last one, `agent_settled`, after them. */
  readonly observe?: (event: RunEvent, signal: AbortSignal) => Promise<void> | undefined;

  // What follows is called outside of runs; there a hook that rejects is passed over.

  /** Called once clients can be spoken to; session commands wait for it. */
  readonly sessionStart?: (start: SessionStart) => Promise<void>;
  readonly sessionShutdown?: (end: { reason: EndReason; targetSessionFile?: string | undefined }) => Promise<void>;
  /** An abort while it waits cancels, too. */
  readonly beforeSwitch?: (
    to: { reason: 'new' | 'resume'; targetSessionFile?: string | undefined },
    signal: AbortSignal,
  ) => Promise<Cancelled | undefined>;
  /** `before`: the entry is left out of the copy, `at`: it is the last one in it. An abort cancels. */
  readonly beforeFork?: (
    from: { entryId: string; position: 'before' | 'at' },
    signal: AbortSignal,
  ) => Promise<Cancelled | undefined>;
  readonly modelSelect?: (choice: {
    model: Model;
    previousModel: Model | null;
    source: 'set' | 'cycle' | 'restore';
  }) => Promise<void>;
  /** The session has another name. */
  readonly nameChange?: (name: string | undefined) => Promise<void>;
  readonly thinkingLevelSelect?: (choice: { level: ThinkingLevel; previousLevel: ThinkingLevel }) => Promise<void>;

  // What follows is called for a message, a run or a command; there a hook that rejects fails it.

  /** Sees raw input first. `handled`: nothing is left to do. */
  readonly input?: (input: RawInput, signal: AbortSignal) => Promise<'handled' | UserInput | undefined>;
  /** Turns skill and template words into what they stand for. */
  readonly expand?: (input: UserInput, signal: AbortSignal) => Promise<UserInput | undefined>;
  readonly systemPrompt?: (prompt: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Before the first model call of a run: messages that follow the one that opens it, and a prompt for this run. */
  readonly beforeAgentStart?: (
    start: { messages: readonly AgentMessage[]; systemPrompt: string },
    signal: AbortSignal,
  ) => Promise<{ messages?: readonly HookMessage[]; systemPrompt?: string } | undefined>;
  /** The last word before a run ends. One that failed or was stopped does not go on, whatever is wished for. */
  readonly beforeSettle?: (
    end: { runId: string; outcome: RunOutcome },
    signal: AbortSignal,
  ) => Promise<Continuation | undefined>;

  /** A command that a client runs beside the conversation; what it answers stands for the command, which then never runs. */
  readonly userBash?: (
    command: { command: string; cwd: string; excludeFromContext: boolean },
    signal: AbortSignal,
  ) => Promise<Result<'bash'> | undefined>;

  /** A compaction that is about to be made. A summary that it answers takes the place of the one a model would write. */
  readonly beforeCompact?: (
    plan: CompactionPlan,
    signal: AbortSignal,
  ) => Promise<Cancelled | (Summary & { firstKeptEntryId: string; tokensBefore: number }) | undefined>;
  /** Told of it; one that rejects changes nothing. */
  readonly afterCompact?: (done: {
    entry: CompactionEntry;
    fromHook: boolean;
    reason: CompactionReason;
    willRetry: boolean;
  }) => Promise<void>;
  /** Told after the clients; one that rejects changes nothing. */
  readonly compactFailed?: (failure: CompactionFailure) => Promise<void>;

  /**
   * The conversation is about to go on from another entry. A summary counts only where one is wanted; instructions and a
   * label take the place of those that were given. An abort cancels.
   */
  readonly beforeTree?: (plan: TreePlan, signal: AbortSignal) => Promise<TreeHookResult | undefined>;
  /** Told of it; one that rejects changes nothing. */
  readonly afterTree?: (move: TreeMove) => Promise<void>;
}
