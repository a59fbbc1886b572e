import type {
  AgentMessage,
  AssistantMessage,
  Model,
  ThinkingLevel,
  ToolInfo,
} from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import type { AgentSessionEventListener } from './session-events.ts';

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
