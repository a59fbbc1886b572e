import { validateResult } from './validate-results.ts';
import { HandlerContexts } from './context.ts';
import { Deadline, DeadlineMissed } from './deadline.ts';
import type { HandlerResult, EventName, ExtensionEvent } from './events.ts';
import type { Extension } from './extension.ts';
import type { ExtensionHandler } from './extension-api.ts';
import type { ExtensionHost } from './host.ts';
import { TurnCounter } from './turn-counter.ts';

/** How long a handler may take, unless the user's settings say otherwise. */
const HANDLER_TIMEOUT_MS = 60_000;

/** How long one may take that has a summary written. */
const SUMMARY_HANDLER_TIMEOUT_MS = 10 * 60_000;

const SLOW_EVENTS: ReadonlySet<EventName> = new Set(['session_before_compact', 'session_before_tree']);

/** What happens so often that a handler which once took too long is not called again. */
const FREQUENT_EVENTS: ReadonlySet<EventName> = new Set(['message_update', 'tool_execution_update']);

/** Calls the handlers of extensions, one after another. None of them can fail, hold up or end what it steps into. */
export class HandlerRunner {
  readonly #host: ExtensionHost;
  readonly #extensions: () => readonly Extension[];
  readonly #disabled = new WeakSet<object>();
  readonly contexts: HandlerContexts;
  /** Where the run is that is active. */
  readonly turnCounter: TurnCounter;
  /** Its extensions are gone. */
  isClosed = false;
  /** The system prompt of the run that is active, if a handler gave it one. */
  runSystemPrompt: string | undefined;

  constructor(host: ExtensionHost, extensions: () => readonly Extension[]) {
    this.#host = host;
    this.#extensions = extensions;
    this.turnCounter = new TurnCounter(host.applyStep);
    this.contexts = new HandlerContexts(host, () => this.systemPrompt());
  }

  handles(...events: EventName[]): boolean {
    return this.#extensions().some((extension) => events.some((event) => extension.handles(event)));
  }

  /** Tells everybody who listens. */
  async notify<E extends EventName>(event: ExtensionEvent<E>): Promise<void> {
    for await (const _result of this.results(event));
  }

  /** What each handler answers, where it answers something; the next is asked when this one was dealt with. */
  async *results<E extends EventName>(event: ExtensionEvent<E>): AsyncGenerator<HandlerResult<E> & object> {
    for await (const { result } of this.resultsByExtension(event)) yield result;
  }

  /** The same, with whose handler it is. */
  async *resultsByExtension<E extends EventName>(
    event: ExtensionEvent<E>,
  ): AsyncGenerator<{ result: HandlerResult<E> & object; extension: Extension }> {
    for (const { result, extension } of this.#callEach(event)) {
      const value = await result.catch(() => undefined);
      if (typeof value === 'object' && value !== null) yield { result: value, extension };
    }
  }

  /** The same, but what a handler throws is thrown; and where the handlers are gone nobody can say yes. */
  async *decisions<E extends EventName>(event: ExtensionEvent<E>): AsyncGenerator<HandlerResult<E> & object> {
    if (this.isClosed) throw new Error('The extensions were loaded again before they could decide');
    for (const { result } of this.#callEach(event)) {
      const value = await result;
      if (typeof value === 'object' && value !== null) yield value;
    }
  }

  /** What the model is told before the conversation. */
  systemPrompt(): string {
    return this.runSystemPrompt ?? this.#host.session().basePrompt();
  }

  *#callEach<E extends EventName>(
    event: ExtensionEvent<E>,
  ): Generator<{ result: Promise<HandlerResult<E> | undefined>; extension: Extension }> {
    for (const extension of this.#extensions()) {
      for (const handler of extension.handlers(event.type)) {
        if (!this.#disabled.has(handler)) yield { result: this.#call(extension, handler, event), extension };
      }
    }
  }

  async #call<E extends EventName>(extension: Extension, handler: ExtensionHandler<E>, event: ExtensionEvent<E>) {
    try {
      const result = await Deadline.race(this.#timeoutFor(event.type), (deadline) =>
        handler(event, this.contexts.forCall({ deadline })),
      );
      return validateResult(result, event);
    } catch (error) {
      if (error instanceof DeadlineMissed && FREQUENT_EVENTS.has(event.type)) this.#disabled.add(handler);
      this.#host.reportFailure(extension.path, event.type, error);
      throw error;
    }
  }

  #timeoutFor(event: EventName): number {
    const limit = this.#host.project().settings.extensionTimeoutMs ?? HANDLER_TIMEOUT_MS;
    return SLOW_EVENTS.has(event) ? Math.max(limit, SUMMARY_HANDLER_TIMEOUT_MS) : limit;
  }
}
