import { forkPoints, lastText, statsOf } from '../engine/commands/sessions.ts';
import type { ModelMatch } from '../model/registry/model-pattern.ts';
import { isVirtual } from '../model/registry/virtual-models.ts';
import { supportedLevels } from '../model/thinking-levels.ts';
import type {
  AgentMessage,
  AssistantMessage,
  ContextUsage,
  Model,
  QueueMode,
  Result,
  ThinkingLevel,
  ToolInfo,
} from '../protocol/generated/vocabulary.ts';
import type { Session } from '../session/session.ts';
import type { EmbedContext } from './context.ts';
import type { AgentSessionEventListener } from './session-events.ts';

/** The synchronous getters of `AgentSession`. */
export class SessionStateView {
  readonly #context: EmbedContext;

  constructor(context: EmbedContext) {
    this.#context = context;
  }

  get #session(): Session {
    return this.#context.agent.session;
  }

  get model(): Model | undefined {
    return this.#session.choice.model ?? undefined;
  }

  /** The model that answered last for a virtual model; undefined for any other. */
  get routedModel(): { model: Model } | undefined {
    if (!this.model || !isVirtual(this.model)) return undefined;
    const answer = this.messages.findLast((message) => message.role === 'assistant');
    const model = answer && this.#context.agent.registry.findAny(answer.provider, answer.model);
    return model && { model };
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#session.choice.thinkingLevel;
  }

  /** Whether a run is active, from its prompt to `agent_settled`. */
  get isStreaming(): boolean {
    return this.#session.run !== undefined;
  }

  get isIdle(): boolean {
    return !this.isStreaming;
  }

  get isBashRunning(): boolean {
    return this.#session.shell.running !== undefined;
  }

  /** Whether commands that ended during the run wait for its end. */
  get hasPendingBashMessages(): boolean {
    return this.#session.shell.hasEnded;
  }

  /** Always undefined: tau does not keep caches of providers warm. */
  get cacheWarmingStatus(): undefined {
    return undefined;
  }

  /** Reads the conversation from the entries again. */
  refreshContext(): void {
    this.#session.transcript.readBranch();
  }

  get isCompacting(): boolean {
    return this.#session.compactor.isBusy;
  }

  get isRetrying(): boolean {
    return this.#session.run?.recovery.isRetrying === true;
  }

  get retryAttempt(): number {
    return this.#session.run?.recovery.retryAttempt ?? 0;
  }

  get messages(): AgentMessage[] {
    return [...this.#session.transcript.messages];
  }

  /** The system prompt before extensions change it. */
  get systemPrompt(): string {
    return this.#session.basePrompt();
  }

  get sessionFile(): string | undefined {
    return this.#session.log.path;
  }

  get sessionId(): string {
    return this.#session.log.header.id;
  }

  get sessionName(): string | undefined {
    return this.#session.transcript.name;
  }

  getUserMessagesForForking(): { entryId: string; text: string }[] {
    return forkPoints(this.#context.agent).messages;
  }

  getSessionStats(): Result<'get_session_stats'> {
    return statsOf(this.#context.agent);
  }

  getContextUsage(): ContextUsage | undefined {
    return this.#session.contextUsage;
  }

  getLastAssistantText(): string | undefined {
    return lastText(this.#context.agent) ?? undefined;
  }

  get pendingMessageCount(): number {
    return this.#session.queue.length;
  }

  getSteeringMessages(): string[] {
    return this.#session.queue.update().steering;
  }

  getFollowUpMessages(): string[] {
    return this.#session.queue.update().followUp;
  }

  get steeringMode(): QueueMode {
    return this.#session.modes.steering;
  }

  get followUpMode(): QueueMode {
    return this.#session.modes.followUp;
  }

  get scopedModels(): readonly ModelMatch[] {
    return this.#context.agent.registry.scope ?? [];
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.model ? supportedLevels(this.model) : ['off'];
  }

  supportsThinking(): boolean {
    return this.model?.reasoning === true;
  }

  get autoCompactionEnabled(): boolean {
    return this.#session.automatic.compaction;
  }

  get autoRetryEnabled(): boolean {
    return this.#session.automatic.retry;
  }

  getActiveToolNames(): string[] {
    return this.#context.agent.toolbox.activeNames;
  }

  getCallableToolNames(): string[] {
    return this.#context.agent.toolbox.callable.map(({ name }) => name);
  }

  getAllTools(): ToolInfo[] {
    return this.#context.agent.toolbox.describe();
  }
}

/** The state of the agent. */
export interface AgentState {
  readonly systemPrompt: string;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** The active tools. */
  readonly tools: readonly ToolInfo[];
  readonly messages: AgentMessage[];
  readonly isStreaming: boolean;
  /** The streaming assistant message, if there is one. */
  readonly streamingMessage: AssistantMessage | undefined;
  readonly pendingToolCalls: ReadonlySet<string>;
  /** The error of the last run. */
  readonly errorMessage: string | undefined;
}

/** A read-only view of the agent of a session, under pi's names. */
export class AgentView {
  readonly #context: EmbedContext;

  constructor(context: EmbedContext) {
    this.#context = context;
  }

  get state(): AgentState {
    const { agent, events } = this.#context;
    const { session, toolbox } = agent;
    return {
      systemPrompt: session.basePrompt(),
      model: session.choice.model ?? undefined,
      thinkingLevel: session.choice.thinkingLevel,
      tools: toolbox.describe().filter(({ active }) => active),
      messages: [...session.transcript.messages],
      isStreaming: session.run !== undefined,
      streamingMessage: events.streamingMessage,
      pendingToolCalls: new Set(events.runningCalls),
      errorMessage: session.run ? undefined : session.lastRun?.errorMessage,
    };
  }

  get sessionId(): string {
    return this.#context.agent.session.log.header.id;
  }

  /** The signal of the active run. */
  get signal(): AbortSignal | undefined {
    return this.#context.agent.session.run?.signal;
  }

  subscribe(listener: AgentSessionEventListener): () => void {
    return this.#context.events.subscribe(listener);
  }

  abort(): void {
    void this.#context.perform('abort', {});
  }

  waitForIdle(): Promise<void> {
    return this.#context.whenIdle();
  }

  hasQueuedMessages(): boolean {
    return this.#context.agent.session.queue.length > 0;
  }

  clearAllQueues(): void {
    this.#context.agent.session.queue.clear();
  }
}
