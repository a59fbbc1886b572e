import type {
  AgentMessage,
  AssistantMessage,
  Model,
  ThinkingLevel,
  ToolInfo,
} from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import type { AgentSessionEventListener } from './session-events.ts';

/** How things stand with an agent. */
export interface AgentState {
  readonly systemPrompt: string;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** What the model is offered. */
  readonly tools: readonly ToolInfo[];
  readonly messages: AgentMessage[];
  readonly isStreaming: boolean;
  /** The answer so far, while one streams. */
  readonly streamingMessage: AssistantMessage | undefined;
  readonly pendingToolCalls: ReadonlySet<string>;
  /** Why the last run failed, if it did. */
  readonly errorMessage: string | undefined;
}

/** The agent below a session, to look at: pi's names. */
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

  /** Aborts with the run that is active. */
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
