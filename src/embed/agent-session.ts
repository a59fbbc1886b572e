import { exportPage } from '../engine/commands/sessions.ts';
import type { NavigateOptions } from '../extend/extensions/extension-api.ts';
import { ModelsView } from '../extend/extensions/api/models-view.ts';
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
import { type AgentState, AgentView } from './agent-view.ts';
import type { ExtensionUIContext } from './embedder-ui.ts';
import { type ExtensionFailure, ExtensionRunner } from './extension-runner.ts';
import { type PromptTemplate, ResourceView } from './resource-loader.ts';
import { SessionChores } from './session-chores.ts';
import type { SessionDesk } from './session-desk.ts';
import { type AgentSessionEventListener, patiently } from './session-events.ts';
import { SessionFacts } from './session-facts.ts';
import type { SessionManager } from './session-manager.ts';
import {
  cycled,
  cycleThinkingLevel,
  type ModelCycleResult,
  type NamedModel,
  setModel,
  setThinkingLevel,
} from './session-models.ts';
import {
  type PromptOptions,
  prompt,
  sendCustomMessage,
  sendUserMessage,
  type UserMessageOptions,
} from './session-prompts.ts';
import { type BashOptions, type BashResult, executeBash, recordBashResult } from './session-shell.ts';
import { SettingsView } from './settings-manager.ts';

/** How a program serves extensions. What pi takes beyond this is accepted and has no effect. */
export interface ExtensionBindings {
  /** Shows dialogs; without it extensions take their defaults at once. */
  readonly uiContext?: ExtensionUIContext | undefined;
  /** Always `rpc`. */
  readonly mode?: string | undefined;
  readonly onError?: ((failure: ExtensionFailure) => void) | undefined;
  /** An extension wants the program to end; nothing is being done any more. */
  readonly shutdownHandler?: (() => void) | undefined;
}

/** Whether something is to count for new sessions too. */
interface Persistence {
  readonly persist?: boolean | undefined;
}

/** An agent in this process, under pi's names. Made by `createAgentSession`. */
export class AgentSession extends SessionFacts implements AsyncDisposable {
  /** It goes with the agent from session to session. */
  readonly sessionManager: SessionManager;
  readonly agent: AgentView;
  readonly settingsManager: SettingsView;
  readonly resourceLoader: ResourceView;
  readonly extensionRunner: ExtensionRunner;
  readonly modelRegistry: ModelsView;
  readonly #desk: SessionDesk;
  readonly #chores: SessionChores;

  private constructor(desk: SessionDesk, sessionManager: SessionManager, words: SystemPromptOverrides) {
    super(desk);
    this.#desk = desk;
    this.#chores = new SessionChores(desk);
    this.sessionManager = sessionManager;
    this.agent = new AgentView(desk);
    this.settingsManager = new SettingsView(desk.agent);
    this.resourceLoader = new ResourceView(desk, words);
    this.extensionRunner = new ExtensionRunner(desk);
    this.modelRegistry = new ModelsView(desk.agent.registry, desk.agent.addonPaths.agentDir);
  }

  /** @internal */
  static at(desk: SessionDesk, manager: SessionManager, words: SystemPromptOverrides): AgentSession {
    return new AgentSession(desk, manager, words);
  }

  get #session(): Session {
    return this.#desk.agent.session;
  }

  /** Hears everything that happens from now on; the returned function ends it. What a listener throws hurts nobody. */
  subscribe(listener: AgentSessionEventListener): () => void {
    return this.#desk.events.subscribe(listener);
  }

  /** Stops whatever runs and lets go of the session; settles when nothing is left of it. Listeners hear no more. */
  dispose(): Promise<void> {
    return this.#desk.close();
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
    this.#desk.agent.setName(sessionNameFrom(name));
  }

  /** Writes the session into a page; answers where. */
  exportToHtml(outputPath?: string): Promise<string> {
    return exportPage(this.#desk.agent, outputPath);
  }

  // What is said.

  /** Settles when the run is over, with its retries and compactions; how it ended is told by events. Rejects when refused. */
  prompt(text: string, options: PromptOptions = {}): Promise<void> {
    return prompt(this.#desk, text, options);
  }

  /** Reaches the agent after the tools that run now; begins a run when there is none. */
  async steer(text: string, images?: ImageContent[]): Promise<Accepted['disposition']> {
    return (await this.#desk.perform('steer', { message: text, ...(images ? { images } : {}) })).disposition;
  }

  /** Reaches the agent when it would stop; begins a run when there is none. */
  async followUp(text: string, images?: ImageContent[]): Promise<Accepted['disposition']> {
    return (await this.#desk.perform('follow_up', { message: text, ...(images ? { images } : {}) })).disposition;
  }

  sendUserMessage(content: string | ContentBlock[], options: UserMessageOptions = {}): Promise<void> {
    return sendUserMessage(this.#desk, content, options);
  }

  sendCustomMessage(message: InjectedMessage, options: InjectionOptions = {}): Promise<void> {
    return sendCustomMessage(this.#desk, message, options);
  }

  /** Takes back what waits; answers what it was. */
  clearQueue(): { steering: string[]; followUp: string[] } {
    return this.#session.queue.clear();
  }

  setSteeringMode(mode: QueueMode): void {
    this.settingsManager.setSteeringMode(mode);
  }

  setFollowUpMode(mode: QueueMode): void {
    this.settingsManager.setFollowUpMode(mode);
  }

  /** Stops the run; settles when it has stopped. What is queued stays. */
  async abort(): Promise<void> {
    await this.#desk.perform('abort', {});
    await this.#desk.events.told;
  }

  waitForIdle(): Promise<void> {
    return this.#desk.idle();
  }

  // Which model, and how much it thinks.

  setModel(model: NamedModel, { persist }: Persistence = {}): Promise<void> {
    return setModel(this.#desk, model, persist);
  }

  /** Undefined when there is no other model. */
  cycleModel(direction: CycleDirection = 'forward'): Promise<ModelCycleResult | undefined> {
    return cycled(this.#desk, direction);
  }

  /** The nearest level that the model knows counts. */
  setThinkingLevel(level: ThinkingLevel): void {
    setThinkingLevel(this.#desk, level);
  }

  cycleThinkingLevel(): ThinkingLevel | undefined {
    return cycleThinkingLevel(this.#desk);
  }

  // What is done about failures and a context that fills up.

  compact(customInstructions?: string): Promise<CompactionResult> {
    return this.#chores.compact(customInstructions);
  }

  abortCompaction(): void {
    this.#chores.callOff('compaction');
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

  // Commands beside the conversation.

  executeBash(command: string, onChunk?: (chunk: string) => void, options: BashOptions = {}): Promise<BashResult> {
    return executeBash(this.#desk, command, onChunk, options);
  }

  recordBashResult(command: string, result: BashResult, options: BashOptions = {}): void {
    recordBashResult(this.#desk, command, result, options);
  }

  abortBash(): void {
    void this.#session.shell.abort();
  }

  // Where the conversation goes on.

  navigateTree(targetId: string, options: NavigateOptions = {}): Promise<Result<'navigate_tree'>> {
    return this.#chores.navigate(targetId, options);
  }

  abortBranchSummary(): void {
    this.#chores.callOff('navigation');
  }

  /** False when an extension said no. */
  async newSession({ parentSession }: { parentSession?: string | undefined } = {}): Promise<boolean> {
    const params = parentSession === undefined ? {} : { parentSession };
    return !(await this.#desk.perform('new_session', params)).cancelled;
  }

  async switchSession(sessionPath: string): Promise<boolean> {
    return !(await this.#desk.perform('switch_session', { sessionPath })).cancelled;
  }

  /** Goes on in a copy of what was said before a message; answers what that says. */
  async fork(entryId: string): Promise<{ selectedText: string; cancelled: boolean }> {
    const { text, cancelled } = await this.#desk.perform('fork', { entryId });
    return { selectedText: text, cancelled };
  }

  // Tools and extensions.

  /** Names that mean no tool are passed over. */
  setActiveToolsByName(names: readonly string[]): void {
    const { agent } = this.#desk;
    const known = new Set(this.getAllTools().map(({ name }) => name));
    agent.publishChanges(() => agent.toolbox.activate(names.filter((name) => known.has(name))));
  }

  /** Reads extensions, skills, templates, rules and servers again. */
  reload(): Promise<void> {
    return this.#desk.reload();
  }

  /** Says how extensions are served, and lets them know that the session has begun. */
  async bindExtensions({ uiContext, onError, shutdownHandler }: ExtensionBindings): Promise<void> {
    this.#desk.ui.bind(uiContext);
    if (onError) this.extensionRunner.onError(onError);
    if (shutdownHandler) void this.#desk.engine.exitRequested.then(patiently(shutdownHandler));
    await this.#desk.inTurn(() => {});
  }

  hasExtensionHandlers(event: string): boolean {
    return this.extensionRunner.hasHandlers(event);
  }
}
