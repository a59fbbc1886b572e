import type { AgentEvent, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './connection-lost.ts';
import { type CustomTool, CustomTools } from './custom-tools.ts';
import type { EventConsumer } from './event-consumer.ts';
import { EventIterator } from './event-iterator.ts';
import { AgentMethods } from './generated/methods.ts';
import { type PromptRun, RunCollector } from './prompt-run.ts';
import { callListener } from './call-listener.ts';
import { type UiHandler, UiRequests } from './ui-requests.ts';

/** What every client has, whatever it is connected by. */
export abstract class BaseClient extends AgentMethods {
  readonly #eventListeners = new Set<(event: AgentEvent) => void>();
  readonly #closeListeners = new Set<(error: ConnectionLost) => void>();
  readonly #consumers = new Set<EventConsumer>();
  /** @internal */
  protected readonly tools: CustomTools = new CustomTools((frame) => this.send(frame));
  /** @internal */
  protected readonly uiRequests: UiRequests = new UiRequests((response) => this.send(response));
  /** @internal */
  protected lost: ConnectionLost | undefined;

  /** Sends something that gets no answer. */
  abstract send(frame: Frame): void;

  /** Leaves. What the agent does next is its own business. */
  abstract close(): void;

  /** Hears every event from now on; the returned function stops that. What it throws is thrown as an uncaught exception. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** Called once, when the agent is gone; the returned function calls that off. */
  onClose(listener: (error: ConnectionLost) => void): () => void {
    if (this.lost) listener(this.lost);
    else this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  /**
   * Every event from this moment on, none left out. Ends when the agent is gone; fails with `EventsLost` when it is left
   * unread for too long, which no listener notices.
   */
  events(): AsyncIterableIterator<AgentEvent> {
    const iterator = new EventIterator((consumer) => this.#consumers.delete(consumer));
    if (this.lost) iterator.end();
    else this.#consumers.add(iterator);
    return iterator;
  }

  /**
   * Sends a prompt and waits for the end of its run. Events are collected from before the prompt is sent. A prompt that
   * was sent before, with the same `clientMessageId`, waits for the run that serves it; if that is over, for nothing.
   */
  async promptAndWait(prompt: string | Params<'prompt'>): Promise<PromptRun> {
    const consumer = new RunCollector();
    this.#consumers.add(consumer);
    try {
      const accepted = await this.prompt(typeof prompt === 'string' ? { message: prompt } : prompt);
      return await consumer.waitForEnd(accepted);
    } finally {
      this.#consumers.delete(consumer);
    }
  }

  /** Registers tools that this program runs, and runs them when the agent asks. They take the place of all before. */
  setCustomTools(tools: readonly CustomTool[]): Promise<Result<'set_host_tools'>> {
    return this.tools.set(tools, (definitions) => this.setHostTools({ tools: definitions }));
  }

  /**
   * Shows what extensions want shown, and answers their dialogs. The last handler is the one that is asked; the returned
   * function takes it back. Without any, nothing is answered.
   */
  onUiRequest(handler: UiHandler): () => void {
    return this.uiRequests.add(handler);
  }

  /** @internal Tells everybody; `length` is that of the line in which the event came. */
  protected handleEvent(event: AgentEvent, length: number): void {
    for (const consumer of this.#consumers) consumer.push(event, length);
    for (const listener of this.#eventListeners) callListener(listener, event);
    this.tools.handleEvent(event);
    this.uiRequests.handleEvent(event);
  }

  /** @internal What was told since the last snapshot is all that belongs to it. */
  protected handleSnapshotEnd(): void {
    for (const consumer of this.#consumers) consumer.onSnapshotEnd();
    this.uiRequests.abortStale();
  }

  /** @internal There will be no more. */
  protected end(reason: ConnectionLost): void {
    this.lost = reason;
    for (const consumer of this.#consumers) consumer.end(reason);
    this.tools.abortAll(reason);
    this.uiRequests.abortAll(reason);
    for (const listener of this.#closeListeners) callListener(listener, reason);
  }
}
