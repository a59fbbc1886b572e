import type { ToolExposure } from '../../agent/tool.ts';
import type { ModelRoute, RouteRequest, VirtualModelDefinition } from '../../model/registry/virtual-models.ts';
import type {
  ContentBlock,
  ContextUsage,
  Model,
  SlashCommand,
  ThinkingLevel,
} from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import type { ExtensionMcpServer } from '../mcp/extension-servers.ts';
import type { ModelsView } from './api/models-view.ts';
import type { ProviderObject } from './api/provider-object.ts';
import type { SessionView } from './api/session-view.ts';
import type { SessionWriter } from './api/session-writer.ts';
import type { ExtensionUi } from './api/ui.ts';
import type { CustomMessageDraft, EventName, ExtensionEvent, HandlerResult, SystemPromptOptions } from './events.ts';
import type {
  EntryRenderer,
  MarkdownTransformer,
  MessageRenderer,
  ToolRendererResolver,
  ToolRenderers,
} from './terminal-api.ts';

/** The default export of an extension. This file is pi's extension API as tau implements it. */
export type ExtensionFactory = (pi: ExtensionAPI) => unknown;

/** How the agent is driven: `rpc` clients can show dialogs, the other modes cannot. */
export type Mode = 'rpc' | 'json' | 'print';

/** The `ctx` object of every handler. */
export interface ExtensionContext {
  readonly ui: ExtensionUi;
  readonly mode: Mode;
  /** True if a client can show dialogs. */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: SessionView;
  readonly modelRegistry: ModelsView;
  readonly model: Model | undefined;
  readonly scopedModels: readonly { model: Model; thinkingLevel?: ThinkingLevel | undefined }[];
  readonly thinkingLevel: ThinkingLevel;
  /** Aborts with the active run. */
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
  withSession?: (ctx: ReplacedSessionContext) => Promise<void>;
}

/** The `ctx` object of `withSession`: it can also send messages to the new session. */
export interface ReplacedSessionContext extends ExtensionCommandContext {
  sendMessage(message: CustomMessageDraft, options?: SendOptions): Promise<void>;
  sendUserMessage(
    content: string | ContentBlock[],
    options?: { deliverAs?: 'steer' | 'followUp'; expandPromptTemplates?: boolean },
  ): Promise<void>;
}

/** The `ctx` object of a command handler: it can also change the session. */
export interface ExtensionCommandContext extends ExtensionContext {
  getSystemPromptOptions(): SystemPromptOptions;
  waitForIdle(): Promise<void>;
  newSession(
    options?: { parentSession?: string; setup?: (session: SessionWriter) => Promise<void> } & SessionChangeOptions,
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

/** A tool as an extension defines it. Fields about terminal rendering are accepted and ignored. */
export interface ToolDefinition<TParams = object, TDetails = unknown> extends ToolRenderers {
  name: string;
  label?: string;
  description: string;
  /** JSON Schema, for example made with TypeBox. */
  parameters: TParams;
  promptSnippet?: string;
  promptGuidelines?: string[];
  /** If false, the tool is inactive until a user or extension activates it. */
  defaultActive?: boolean;
  /** `sequential`: the calls of a message with a call of this tool run one after another. */
  executionMode?: 'sequential' | 'parallel';
  /** How the model reaches the tool; by default `direct`. */
  exposure?: ToolExposure;
  /** The group of the tool, such as its MCP server. */
  namespace?: ToolNamespace;
  annotations?: ToolAnnotations;
  /** Reported by `getAllTools()`. */
  reachesTools?: (input: Record<string, unknown>) => 'all' | readonly string[];
  /** Accepted; `structuredContent` is not checked against it. */
  outputSchema?: object;
  prepareArguments?: (args: unknown) => unknown;
  execute(
    toolCallId: string,
    // biome-ignore lint/suspicious/noExplicitAny: each tool knows the arguments that its own schema lets through
    params: any,
    signal: AbortSignal | undefined,
    onUpdate: ((result: ExtensionToolResult<TDetails>) => void) | undefined,
    ctx: ExtensionToolContext,
  ): Promise<ExtensionToolResult<TDetails>>;
}

export interface ToolNamespace {
  name: string;
  aliases?: readonly string[];
  description?: string;
  instructions?: string;
}

/** Unverified hints of the author of a tool, with the meaning of MCP's tool annotations. */
export interface ToolAnnotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** The `ctx` object of a tool: it can also call other tools. */
export interface ExtensionToolContext extends ExtensionContext {
  /** Tools that `executeTool` can call. */
  readonly tools: readonly { name: string; description: string; parameters: object }[];
  /** Runs another tool with its checks and the `tool_call` and `tool_result` handlers. Rejects only for bad options. */
  executeTool(
    name: string,
    args: unknown,
    options?: { signal?: AbortSignal; onUpdate?: (result: ExtensionToolResult) => void },
  ): Promise<{ toolCall: object; result: ExtensionToolResult; isError: boolean; durationMs?: number }>;
}

export interface ExtensionToolResult<TDetails = unknown> {
  content: ContentBlock[];
  details?: TDetails;
  isError?: boolean;
  /** The result for programs that call the tool. */
  structuredContent?: unknown;
  /** Tokens and cost of models that the tool called. */
  usage?: object;
  /** Ends the run without another model call. */
  terminate?: boolean;
}

/** A tool as `getAllTools()` lists it, active or not. */
export interface ToolListing {
  name: string;
  description: string;
  parameters: object;
  promptGuidelines?: readonly string[];
  exposure: ToolExposure;
  namespace?: object;
  annotations?: object;
  reachesTools?: ToolDefinition['reachesTools'];
  sourceInfo: object;
}

export interface CommandDefinition {
  description?: string;
  getArgumentCompletions?: (prefix: string) => unknown;
  handler: (args: string, ctx: ExtensionCommandContext) => unknown;
}

/** A virtual model as an extension defines it. */
export interface ExtensionVirtualModel extends Omit<VirtualModelDefinition, 'route'> {
  /** Chooses the model and thinking level of one request. */
  route(request: RouteRequest, ctx: ExtensionContext): ModelRoute | Promise<ModelRoute>;
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
  /** Bytes of each stream that are kept, at most tau's own limit. */
  maxBuffer?: number;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  code: number;
  killed: boolean;
  /** The output exceeded the limit. */
  truncated: boolean;
}

// An overload for each event, so that literals in the results of handlers keep their types.
type Subscribers = { [E in EventName]: (event: E, handler: ExtensionHandler<E>) => () => void };

type Intersection<U> = (U extends unknown ? (member: U) => void : never) extends (all: infer I) => void ? I : never;

/** The `pi` object: pi's extension API without its terminal functions. */
export interface ExtensionAPI {
  /** Adds a handler; the returned function removes it. */
  readonly on: Intersection<Subscribers[EventName]>;
  registerTool(tool: ToolDefinition): void;
  registerCommand(name: string, command: CommandDefinition): void;
  registerFlag(name: string, flag: FlagDefinition): void;
  getFlag(name: string): boolean | string | undefined;
  registerProvider(name: string, config: object): void;
  /** Registers a provider object of pi-ai. */
  registerProvider(provider: ProviderObject): void;
  unregisterProvider(name: string): void;
  /** Adds a model that can be selected and routes each request to another one. */
  registerVirtualModel(definition: ExtensionVirtualModel): void;
  unregisterVirtualModel(provider: string, id: string): void;
  /** Connects to an MCP server until the extension ends. */
  registerMcpServer(name: string, config: object): void;
  unregisterMcpServer(name: string): void;
  /** The servers that extensions have registered. */
  getMcpServers(): ExtensionMcpServer[];
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
  getAllTools(): ToolListing[];
  setActiveTools(names: string[]): void;
  getCommands(): SlashCommand[];
  getSettings(): Settings;
  /** Resolves to false if the model has no API key. */
  setModel(model: Model): Promise<boolean>;
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): void;
  readonly events: {
    on(channel: string, handler: (data: unknown) => void): () => void;
    emit(channel: string, data: unknown): void;
  };
  /** Terminal functions are accepted and have no effect. */
  registerShortcut(
    shortcut: string,
    options: { description?: string; handler: (ctx: ExtensionContext) => unknown },
  ): void;
  registerMessageRenderer<T = unknown>(customType: string, renderer: MessageRenderer<T>): void;
  registerEntryRenderer<T = unknown>(customType: string, renderer: EntryRenderer<T>): void;
  registerToolRenderer(resolver: ToolRendererResolver): void;
  registerMarkdownTransformer(transformer: MarkdownTransformer): void;
}
