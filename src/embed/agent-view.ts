import type {
  AgentMessage,
  AssistantMessage,
  Model,
  ThinkingLevel,
  ToolInfo,
} from '../protocol/generated/vocabulary.ts';
import type { SessionDesk } from './session-desk.ts';
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
  readonly #desk: SessionDesk;

  constructor(desk: SessionDesk) {
    this.#desk = desk;
  }

  get state(): AgentState {
    const { agent, events } = this.#desk;
    const { session, toolbox } = agent;
    return {
      systemPrompt: session.basePrompt(),
      model: session.choice.model ?? undefined,
      thinkingLevel: session.choice.thinkingLevel,
      tools: toolbox.describe().filter(({ active }) => active),
      messages: [...session.transcript.messages],
      isStreaming: session.run !== undefined,
      streamingMessage: events.answer,
      pendingToolCalls: new Set(events.calls),
      errorMessage: session.run ? undefined : session.lastRun?.errorMessage,
    };
  }

  get sessionId(): string {
    return this.#desk.agent.session.log.header.id;
  }

  /** Aborts with the run that is active. */
  get signal(): AbortSignal | undefined {
    return this.#desk.agent.session.run?.signal;
  }

  subscribe(listener: AgentSessionEventListener): () => void {
    return this.#desk.events.subscribe(listener);
  }

  abort(): void {
    void this.#desk.perform('abort', {});
  }

  waitForIdle(): Promise<void> {
    return this.#desk.idle();
  }

  hasQueuedMessages(): boolean {
    return this.#desk.agent.session.queue.length > 0;
  }

  clearAllQueues(): void {
    this.#desk.agent.session.queue.clear();
  }
}
