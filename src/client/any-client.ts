import type { AgentEvent, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './connection-lost.ts';
import { type CustomTool, CustomTools } from './custom-tools.ts';
import type { EventReader } from './event-reader.ts';
import { EventStream } from './event-stream.ts';
import { AgentMethods } from './generated/methods.ts';
import { type PromptRun, RunReader } from './prompt-run.ts';
import { tell } from './tell.ts';
import { type UiHandler, UiRequests } from './ui-requests.ts';

/** What every client has, whatever it is connected by. */
export abstract class AnyClient extends AgentMethods {
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #closing = new Set<(error: ConnectionLost) => void>();
  readonly #readers = new Set<EventReader>();
  /** @internal */
  protected readonly tools: CustomTools = new CustomTools((frame) => this.send(frame));
  /** @internal */
  protected readonly requests: UiRequests = new UiRequests((response) => this.send(response));
  /** @internal */
  protected lost: ConnectionLost | undefined;

  /** Sends something that gets no answer. */
  abstract send(frame: Frame): void;

  /** Leaves. What the agent does next is its own business. */
  abstract close(): void;

  /** Hears every event from now on; the returned function stops that. What it throws is thrown as an uncaught exception. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called once, when the agent is gone; the returned function calls that off. */
  onClose(listener: (error: ConnectionLost) => void): () => void {
    if (this.lost) listener(this.lost);
    else this.#closing.add(listener);
    return () => this.#closing.delete(listener);
  }

  /**
   * Every event from this moment on, none left out. Ends when the agent is gone; fails with `EventsLost` when it is left
   * unread for too long, which no listener notices.
   */
  events(): AsyncIterableIterator<AgentEvent> {
    const stream = new EventStream((reader) => this.#readers.delete(reader));
    if (this.lost) stream.end();
    else this.#readers.add(stream);
    return stream;
  }

  /**
   * Sends a prompt and waits for the end of its run. Events are collected from before the prompt is sent. A prompt that
   * was sent before, with the same `clientMessageId`, waits for the run that serves it; if that is over, for nothing.
   */
  async promptAndWait(prompt: string | Params<'prompt'>): Promise<PromptRun> {
    const reader = new RunReader();
    this.#readers.add(reader);
    try {
      const accepted = await this.prompt(typeof prompt === 'string' ? { message: prompt } : prompt);
      return await reader.read(accepted);
    } finally {
      this.#readers.delete(reader);
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
    return this.requests.add(handler);
  }

  /** @internal Tells everybody; `length` is that of the line in which the event came. */
  protected hear(event: AgentEvent, length: number): void {
    for (const reader of this.#readers) reader.push(event, length);
    for (const listener of this.#listeners) tell(listener, event);
    this.tools.hear(event);
    this.requests.hear(event);
  }

  /** @internal What was told since the last snapshot is all that belongs to it. */
  protected caughtUp(): void {
    for (const reader of this.#readers) reader.caughtUp();
    this.requests.caughtUp();
  }

  /** @internal There will be no more. */
  protected end(reason: ConnectionLost): void {
    this.lost = reason;
    for (const reader of this.#readers) reader.end(reason);
    this.tools.leave(reason);
    this.requests.leave(reason);
    for (const listener of this.#closing) tell(listener, reason);
  }
}
