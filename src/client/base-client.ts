import type { AgentEvent, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import { callListener } from './call-listener.ts';
import { type CustomTool, CustomTools } from './custom-tools.ts';
import type { ConnectionLost } from './errors.ts';
import { type EventConsumer, EventIterator } from './event-iterator.ts';
import { AgentMethods } from './generated/methods.ts';
import { type PromptRun, RunCollector } from './prompt-run.ts';
import { type UiHandler, UiRequests } from './ui-requests.ts';

/** The methods that every client has, independent of its transport. */
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

  /** Sends a frame, which gets no response. */
  abstract send(frame: Frame): void;

  /** Closes the connection; the agent keeps running. */
  abstract close(): void;

  /** Calls the listener for every event; the returned function stops that. Its errors become uncaught exceptions. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** Calls the listener once, when the connection ends; the returned function cancels that. */
  onClose(listener: (error: ConnectionLost) => void): () => void {
    if (this.lost) listener(this.lost);
    else this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  /** Iterates over all events until the connection ends; fails with `EventsLost` when too many stay unread. */
  events(): AsyncIterableIterator<AgentEvent> {
    const iterator = new EventIterator((consumer) => this.#consumers.delete(consumer));
    if (this.lost) iterator.end();
    else this.#consumers.add(iterator);
    return iterator;
  }

  /**
   * Sends a prompt and waits for the end of its run. Events are collected from before the prompt is sent. A repeated
   * `clientMessageId` waits for the run that serves the first message, and returns at once if that has ended.
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

  /** Registers tools that this program runs for the agent. They replace the ones registered before. */
  setCustomTools(tools: readonly CustomTool[]): Promise<Result<'set_host_tools'>> {
    return this.tools.set(tools, (definitions) => this.setHostTools({ tools: definitions }));
  }

  /**
   * Shows the UI requests of extensions and answers their dialogs. Only the newest handler is called; the returned
   * function removes it. Without a handler no dialog is answered.
   */
  onUiRequest(handler: UiHandler): () => void {
    return this.uiRequests.add(handler);
  }

  /** @internal Delivers an event to all consumers and listeners; `length` is the length of its line. */
  protected handleEvent(event: AgentEvent, length: number): void {
    for (const consumer of this.#consumers) consumer.push(event, length);
    for (const listener of this.#eventListeners) callListener(listener, event);
    this.tools.handleEvent(event);
    this.uiRequests.handleEvent(event);
  }

  /** @internal All records of the last snapshot have arrived. */
  protected handleSnapshotEnd(): void {
    for (const consumer of this.#consumers) consumer.onSnapshotEnd();
    this.uiRequests.abortStale();
  }

  /** @internal Rejects and ends everything that is still pending. */
  protected end(reason: ConnectionLost): void {
    this.lost = reason;
    for (const consumer of this.#consumers) consumer.end(reason);
    this.tools.abortAll(reason);
    this.uiRequests.abortAll(reason);
    for (const listener of this.#closeListeners) callListener(listener, reason);
  }
}
