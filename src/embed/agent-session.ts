import { publishChanges } from '../engine/agent-state.ts';
import { exportPage } from '../engine/commands/sessions.ts';
import { ModelsView } from '../extend/extensions/api/models-view.ts';
import type { ExtensionCommandContext, NavigateOptions, ToolDefinition } from '../extend/extensions/extension-api.ts';
import type { SystemPromptOverrides } from '../extend/prompt-parts.ts';
import type {
  Accepted,
  CompactionResult,
  ContentBlock,
  ImageContent,
  QueueMode,
  Result,
  ThinkingLevel,
} from '../protocol/generated/vocabulary.ts';
import type { InjectedMessage, InjectionOptions } from '../session/input/injected-messages.ts';
import type { CycleDirection } from '../session/model-choice.ts';
import type { Session } from '../session/session.ts';
import { sessionNameFrom } from '../store/sessions/session-name.ts';
import type { EmbedContext } from './context.ts';
import type { ExtensionUIContext } from './embedder-ui.ts';
import { type ExtensionFailure, ExtensionRunner } from './extension-runner.ts';
import { CancellableTasks } from './idle-tasks.ts';
import { ModelRuntime } from './models/model-runtime.ts';
import type { ScopedModel } from './models/resolve-models.ts';
import { type PromptTemplate, ResourceView } from './resources/resource-view.ts';
import { type AgentSessionEventListener, logFirstError } from './session-events.ts';
import { exportToJsonl, replacedSessionContext, summarizeForBugReport } from './session-export.ts';
import {
  type BashOptions,
  type BashResult,
  executeBash,
  type PromptOptions,
  prompt,
  recordBashResult,
  type SendUserMessageOptions,
  sendCustomMessage,
  sendUserMessage,
} from './session-input.ts';
import {
  cycleModelIn,
  cycleThinkingLevel,
  type ModelCycleResult,
  type NamedModel,
  setModel,
  setThinkingLevel,
} from './session-models.ts';
import { type AgentState, AgentView, SessionStateView } from './session-state.ts';
import type { SessionManager } from './sessions/session-manager.ts';
import { checkMode } from './settings/session-settings.ts';
import type { SettingsManager } from './settings/settings-manager.ts';

/** The callbacks that serve the extensions of an `AgentSession`. Other fields of pi have no effect. */
export interface ExtensionBindings {
  /** Shows dialogs; without it dialogs resolve with their defaults at once. */
  readonly uiContext?: ExtensionUIContext | undefined;
  /** Always `rpc`. */
  readonly mode?: string | undefined;
  readonly onError?: ((failure: ExtensionFailure) => void) | undefined;
  /** Called when an extension requests the end of the program, once the agent is idle. */
  readonly shutdownHandler?: (() => void) | undefined;
}

// Whether a choice also applies to new sessions.
interface Persistence {
  readonly persist?: boolean | undefined;
}

interface SessionParts {
  readonly manager: SessionManager;
  readonly settings: SettingsManager;
  readonly promptOptions: SystemPromptOverrides;
}

/** An agent in this process under pi's names, made by `createAgentSession`. */
export class AgentSession extends SessionStateView implements AsyncDisposable {
  /** Follows the agent from session to session. */
  readonly sessionManager: SessionManager;
  readonly agent: AgentView;
  readonly settingsManager: SettingsManager;
  readonly resourceLoader: ResourceView;
  readonly extensionRunner: ExtensionRunner;
  readonly modelRegistry: ModelsView;
  readonly modelRuntime: ModelRuntime;
  readonly #context: EmbedContext;
  readonly #idleTasks: CancellableTasks;

  private constructor(context: EmbedContext, { manager, settings, promptOptions }: SessionParts) {
    super(context);
    this.#context = context;
    this.#idleTasks = new CancellableTasks(context);
    this.sessionManager = manager;
    this.agent = new AgentView(context);
    this.settingsManager = settings;
    this.resourceLoader = new ResourceView(context, promptOptions);
    this.extensionRunner = new ExtensionRunner(context);
    const { registry, addonPaths } = context.agent;
    this.modelRegistry = new ModelsView(registry, addonPaths.agentDir);
    this.modelRuntime = ModelRuntime.over(registry, addonPaths.agentDir);
  }

  /** @internal */
  static at(context: EmbedContext, parts: SessionParts): AgentSession {
    return new AgentSession(context, parts);
  }

  get #session(): Session {
    return this.#context.agent.session;
  }

  /** Calls the listener for every event; the returned function stops that. Errors that it throws are logged. */
  subscribe(listener: AgentSessionEventListener): () => void {
    return this.#context.events.subscribe(listener);
  }

  /** Stops all work, releases the session and removes all listeners. */
  dispose(): Promise<void> {
    return this.#context.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get state(): AgentState {
    return this.agent.state;
  }

  get promptTemplates(): readonly PromptTemplate[] {
    return this.resourceLoader.getPrompts().prompts;
  }

  setSessionName(name: string): void {
    this.#context.agent.setName(sessionNameFrom(name));
  }

  /** Writes the active branch as a session file; returns its path. */
  exportToJsonl(outputPath?: string): string {
    return exportToJsonl(this.#context, outputPath);
  }

  /** Lets the model summarise the session for a bug report. Nothing is stored. */
  summarizeForBugReport(options: { hint?: string | undefined; signal: AbortSignal }): Promise<string> {
    return summarizeForBugReport(this.#context, options);
  }

  /** Exports the session as an HTML page and returns its path. */
  exportToHtml(outputPath?: string): Promise<string> {
    return exportPage(this.#context.agent, outputPath);
  }

  // Prompts and queue.

  /** Resolves when the run has ended, including retries and compactions; rejects if the prompt is rejected. */
  prompt(text: string, options: PromptOptions = {}): Promise<void> {
    return prompt(this.#context, text, options);
  }

  /** Delivers the message after the running tools; starts a run when idle. */
  async steer(text: string, images?: ImageContent[]): Promise<Accepted['disposition']> {
    return (await this.#context.perform('steer', { message: text, ...(images ? { images } : {}) })).disposition;
  }

  /** Delivers the message when the run would end; starts a run when idle. */
  async followUp(text: string, images?: ImageContent[]): Promise<Accepted['disposition']> {
    return (await this.#context.perform('follow_up', { message: text, ...(images ? { images } : {}) })).disposition;
  }

  sendUserMessage(content: string | ContentBlock[], options: SendUserMessageOptions = {}): Promise<void> {
    return sendUserMessage(this.#context, content, options);
  }

  sendCustomMessage(message: InjectedMessage, options: InjectionOptions = {}): Promise<void> {
    return sendCustomMessage(this.#context, message, options);
  }

  /** Clears the queue and returns its messages. */
  clearQueue(): { steering: string[]; followUp: string[] } {
    return this.#session.queue.clear();
  }

  setSteeringMode(mode: QueueMode): void {
    this.settingsManager.setSteeringMode(checkMode(mode));
  }

  setFollowUpMode(mode: QueueMode): void {
    this.settingsManager.setFollowUpMode(checkMode(mode));
  }

  /** Resolves when the run has stopped. The queue is kept. */
  async abort(): Promise<void> {
    await this.#context.perform('abort', {});
    await this.#context.events.delivered;
  }

  waitForIdle(): Promise<void> {
    return this.#context.whenIdle();
  }

  // Model and thinking level.

  setModel(model: NamedModel, { persist }: Persistence = {}): Promise<void> {
    return setModel(this.#context, model, persist);
  }

  /** Undefined when there is no other model. */
  cycleModel(direction: CycleDirection = 'forward'): Promise<ModelCycleResult | undefined> {
    return cycleModelIn(this.#context, direction);
  }

  /** Uses the nearest level that the model supports. */
  setThinkingLevel(level: ThinkingLevel): void {
    setThinkingLevel(this.#context, level);
  }

  cycleThinkingLevel(): ThinkingLevel | undefined {
    return cycleThinkingLevel(this.#context);
  }

  /** The models that `cycleModel` cycles through; an empty list lifts the restriction. */
  setScopedModels(models: readonly ScopedModel[]): void {
    this.#context.agent.registry.scope = models;
  }

  /** Stored as a setting: tau does not keep caches of providers warm. */
  setCacheWarmingMode(mode: string): void {
    this.settingsManager.setCacheWarmingMode(mode);
  }

  // Compaction and retries.

  compact(customInstructions?: string): Promise<CompactionResult> {
    return this.#idleTasks.compact(customInstructions);
  }

  abortCompaction(): void {
    this.#idleTasks.cancel('compaction');
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    this.settingsManager.setCompactionEnabled(enabled);
  }

  abortRetry(): void {
    this.#session.run?.recovery.cancelRetry();
  }

  setAutoRetryEnabled(enabled: boolean): void {
    this.settingsManager.setRetryEnabled(enabled);
  }

  // Shell commands.

  executeBash(command: string, onChunk?: (chunk: string) => void, options: BashOptions = {}): Promise<BashResult> {
    return executeBash(this.#context, command, onChunk, options);
  }

  recordBashResult(command: string, result: BashResult, options: BashOptions = {}): void {
    recordBashResult(this.#context, command, result, options);
  }

  abortBash(): void {
    void this.#session.shell.abort();
  }

  // Branches and sessions.

  navigateTree(targetId: string, options: NavigateOptions = {}): Promise<Result<'navigate_tree'>> {
    return this.#idleTasks.navigate(targetId, options);
  }

  abortBranchSummary(): void {
    this.#idleTasks.cancel('navigation');
  }

  /** False when an extension cancelled it. */
  async newSession({ parentSession }: { parentSession?: string | undefined } = {}): Promise<boolean> {
    const params = parentSession === undefined ? {} : { parentSession };
    return !(await this.#context.perform('new_session', params)).cancelled;
  }

  async switchSession(sessionPath: string): Promise<boolean> {
    return !(await this.#context.perform('switch_session', { sessionPath })).cancelled;
  }

  /** Continues in a copy of the branch before a user message; returns the text of that message. */
  async fork(entryId: string): Promise<{ selectedText: string; cancelled: boolean }> {
    const { text, cancelled } = await this.#context.perform('fork', { entryId });
    return { selectedText: text, cancelled };
  }

  // Tools and extensions.

  /** Unknown names are ignored. */
  setActiveToolsByName(names: readonly string[]): void {
    const { agent } = this.#context;
    const known = new Set(this.getAllTools().map(({ name }) => name));
    publishChanges(agent, () => agent.toolbox.activate(names.filter((name) => known.has(name))));
  }

  /** Reloads extensions, skills, templates, rules and MCP servers. */
  reload(): Promise<void> {
    return this.#context.reload();
  }

  /** Binds the callbacks for extensions and starts the session. */
  async bindExtensions({ uiContext, onError, shutdownHandler }: ExtensionBindings): Promise<void> {
    this.#context.ui.bind(uiContext);
    if (onError) this.extensionRunner.onError(onError);
    if (shutdownHandler) void this.#context.engine.exitRequested.then(logFirstError(shutdownHandler));
    await this.#context.runInLane(() => {});
  }

  /** The definition of a tool of an extension or of `customTools`. */
  getToolDefinition(name: string): ToolDefinition | undefined {
    return this.extensionRunner.getToolDefinition(name);
  }

  /** The context of a command in this session. Requires an extension. */
  createReplacedSessionContext(): ExtensionCommandContext {
    return replacedSessionContext(this.#context);
  }

  hasExtensionHandlers(event: string): boolean {
    return this.extensionRunner.hasHandlers(event);
  }
}
