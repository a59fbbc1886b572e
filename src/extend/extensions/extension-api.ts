import type {
  ContentBlock,
  ContextUsage,
  Model,
  SlashCommand,
  ThinkingLevel,
} from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import type { HandlerResult, EventName, SystemPromptOptions, CustomMessageDraft, ExtensionEvent } from './events.ts';
import type { ModelsView } from './models-view.ts';
import type { SessionDraft } from './session-draft.ts';
import type { SessionView } from './session-view.ts';
import type { ExtensionUi } from './ui.ts';

/** What an extension exports by default. */
export type ExtensionFactory = (pi: ExtensionAPI) => unknown;

/** How the agent is driven: by a client that may ask its user, or by a command line that asks nobody. */
export type Mode = 'rpc' | 'json' | 'print';

/** What every handler is given. */
export interface ExtensionContext {
  readonly ui: ExtensionUi;
  readonly mode: Mode;
  /** Whether anybody can be asked. */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: SessionView;
  readonly modelRegistry: ModelsView;
  readonly model: Model | undefined;
  readonly scopedModels: readonly { model: Model; thinkingLevel?: ThinkingLevel | undefined }[];
  readonly thinkingLevel: ThinkingLevel;
  /** Aborts with the run that is active. */
  readonly signal: AbortSignal | undefined;
  isIdle(): boolean;
  isProjectTrusted(): boolean;
  abort(): void;
  hasPendingMessages(): boolean;
  shutdown(): void;
  getContextUsage(): ContextUsage | undefined;
  compact(options?: CompactOptions): void;
  getSystemPrompt(): string;
}

export interface CompactOptions {
  customInstructions?: string;
  onComplete?: (result: unknown) => void;
  onError?: (error: Error) => void;
}

interface SessionChange {
  cancelled: boolean;
}

interface SessionChangeOptions {
  withSession?: (ctx: ExtensionCommandContext) => Promise<void>;
}

/** What the handler of a command is given: it may also go to other sessions. */
export interface ExtensionCommandContext extends ExtensionContext {
  getSystemPromptOptions(): SystemPromptOptions;
  waitForIdle(): Promise<void>;
  newSession(
    options?: { parentSession?: string; setup?: (session: SessionDraft) => Promise<void> } & SessionChangeOptions,
  ): Promise<SessionChange>;
  fork(entryId: string, options?: { position?: 'before' | 'at' } & SessionChangeOptions): Promise<SessionChange>;
  switchSession(sessionPath: string, options?: SessionChangeOptions): Promise<SessionChange>;
  navigateTree(targetId: string, options?: NavigateOptions): Promise<SessionChange>;
  reload(): Promise<void>;
}

export interface NavigateOptions {
  summarize?: boolean;
  customInstructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

export type ExtensionHandler<E extends EventName> = (
  event: ExtensionEvent<E>,
  ctx: ExtensionContext,
) => HandlerReturn<E> | Promise<HandlerReturn<E>>;

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that has nothing to answer need not return
type HandlerReturn<E extends EventName> = HandlerResult<E> | undefined | void;

/** A tool as an extension describes it. What it says of drawing it in a terminal is accepted and left alone. */
export interface ToolDefinition {
  name: string;
  label?: string;
  description: string;
  /** JSON Schema, as TypeBox makes it. */
  parameters: object;
  promptSnippet?: string;
  promptGuidelines?: string[];
  /** False: the model is offered it only when somebody says so. */
  defaultActive?: boolean;
  prepareArguments?: (args: unknown) => unknown;
  execute(
    toolCallId: string,
    // biome-ignore lint/suspicious/noExplicitAny: each tool knows the arguments that its own schema lets through
    params: any,
    signal: AbortSignal | undefined,
    onUpdate: ((result: ExtensionToolResult) => void) | undefined,
    ctx: ExtensionContext,
  ): Promise<ExtensionToolResult>;
}

export interface ExtensionToolResult {
  content: ContentBlock[];
  details?: unknown;
  isError?: boolean;
  /** Nothing is left to do: the model need not be asked again. */
  terminate?: boolean;
}

export interface CommandDefinition {
  description?: string;
  getArgumentCompletions?: (prefix: string) => unknown;
  handler: (args: string, ctx: ExtensionCommandContext) => unknown;
}

export interface FlagDefinition {
  description?: string;
  type: 'boolean' | 'string';
  default?: boolean | string;
}

export interface SendOptions {
  triggerTurn?: boolean;
  deliverAs?: 'steer' | 'followUp' | 'nextTurn';
}

export interface ExecOptions {
  cwd?: string;
  /** Milliseconds. */
  timeout?: number;
  signal?: AbortSignal;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  code: number;
  killed: boolean;
  /** More was printed than is kept. */
  truncated: boolean;
}

/** What an extension is handed: pi's API, as far as it needs no terminal. */
export interface ExtensionAPI {
  /** Hears an event from now on; the returned function stops that. */
  on<E extends EventName>(event: E, handler: ExtensionHandler<E>): () => void;
  registerTool(tool: ToolDefinition): void;
  registerCommand(name: string, command: CommandDefinition): void;
  registerFlag(name: string, flag: FlagDefinition): void;
  getFlag(name: string): boolean | string | undefined;
  registerProvider(name: string, config: object): void;
  unregisterProvider(name: string): void;
  sendMessage(message: CustomMessageDraft, options?: SendOptions): void;
  sendUserMessage(
    content: string | ContentBlock[],
    options?: { deliverAs?: 'steer' | 'followUp'; expandPromptTemplates?: boolean },
  ): void;
  appendEntry(customType: string, data?: unknown): void;
  setSessionName(name: string): void;
  getSessionName(): string | undefined;
  setLabel(entryId: string, label: string | undefined): void;
  exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
  getActiveTools(): string[];
  getAllTools(): { name: string; description: string; parameters: object; sourceInfo: object }[];
  setActiveTools(names: string[]): void;
  getCommands(): SlashCommand[];
  getSettings(): Settings;
  /** False when there is no key for it. */
  setModel(model: Model): Promise<boolean>;
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): void;
  /** A bus between extensions. */
  readonly events: {
    on(channel: string, handler: (data: unknown) => void): () => void;
    emit(channel: string, data: unknown): void;
  };
  // What follows is for terminals: it is accepted and has no effect.
  registerShortcut(...args: unknown[]): void;
  registerMessageRenderer(...args: unknown[]): void;
  registerEntryRenderer(...args: unknown[]): void;
  registerToolRenderer(...args: unknown[]): void;
  registerMarkdownTransformer(...args: unknown[]): void;
}
