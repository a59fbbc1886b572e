import type { ModelRoute, Router } from '../../../model/registry/virtual-models.ts';
import type { AssistantMessage } from '../../../protocol/generated/vocabulary.ts';
import type { RunEvent } from '../../../session/hooks.ts';
import { HandlerContexts } from '../api/context.ts';
import type { EventName, ExtensionEvent, HandlerResult } from '../events.ts';
import type { Extension } from '../extension.ts';
import type { ExtensionHandler, ExtensionVirtualModel } from '../extension-api.ts';
import type { ExtensionHost } from '../host.ts';
import { Deadline, DeadlineMissed } from './deadline.ts';
import { plainCopy, validateResult } from './validate-results.ts';

// The user's settings may override this.
const HANDLER_TIMEOUT_MS = 60_000;

// Handlers that may have a model write a summary get more time.
const SUMMARY_HANDLER_TIMEOUT_MS = 10 * 60_000;

const SLOW_EVENTS: ReadonlySet<EventName> = new Set(['session_before_compact', 'session_before_tree']);

// A handler that once timed out on these frequent events is not called again.
const FREQUENT_EVENTS: ReadonlySet<EventName> = new Set(['message_update', 'tool_execution_update']);

/** Calls the handlers of all extensions in order. A failing or slow handler cannot fail or block the agent. */
export class HandlerRunner {
  readonly #host: ExtensionHost;
  readonly #extensions: () => readonly Extension[];
  readonly #disabled = new WeakSet<object>();
  readonly contexts: HandlerContexts;
  readonly turnCounter: TurnCounter;
  isClosed = false;
  /** Whether the embedding program has sent `session_shutdown` itself. */
  hasShutDown = false;
  #openPrompts = 0;
  /** The system prompt of the active run, if a handler replaced it. */
  runSystemPrompt: string | undefined;

  constructor(host: ExtensionHost, extensions: () => readonly Extension[]) {
    this.#host = host;
    this.#extensions = extensions;
    this.turnCounter = new TurnCounter(host.applyStep);
    this.contexts = new HandlerContexts(host, {
      systemPrompt: () => this.systemPrompt(),
      onPrompt: (kind, title) => this.#onPrompt(kind, title),
    });
  }

  handles(...events: EventName[]): boolean {
    return this.#extensions().some((extension) => events.some((event) => extension.handles(event)));
  }

  /** Calls all handlers and ignores their results. */
  async notify<E extends EventName>(event: ExtensionEvent<E>): Promise<void> {
    for await (const _result of this.results(event));
  }

  /** Yields each result; the next handler is called after the consumer has processed it. */
  async *results<E extends EventName>(event: ExtensionEvent<E>): AsyncGenerator<HandlerResult<E> & object> {
    for await (const { result } of this.resultsByExtension(event)) yield result;
  }

  /** Like `results`, with the extension of each handler. */
  async *resultsByExtension<E extends EventName>(
    event: ExtensionEvent<E>,
  ): AsyncGenerator<{ result: HandlerResult<E> & object; extension: Extension }> {
    for (const { result, extension } of this.#callEach(event)) {
      const value = await result.catch(() => undefined);
      if (typeof value === 'object' && value !== null) yield { result: value, extension };
    }
  }

  /** Like `results`, but throws what a handler throws, and throws if the extensions have been reloaded. */
  async *decisions<E extends EventName>(event: ExtensionEvent<E>): AsyncGenerator<HandlerResult<E> & object> {
    if (this.isClosed) throw new Error('The extensions were loaded again before they could decide');
    for (const { result } of this.#callEach(event)) {
      const value = await result;
      if (typeof value === 'object' && value !== null) yield value;
    }
  }

  /** A router that fails if the route function does not return in time. */
  router(path: string, route: ExtensionVirtualModel['route']): Router {
    return (request) =>
      Deadline.race(this.#timeoutFor('context'), async (deadline) => {
        const { state, ...chosen } = Object(
          await route(request, this.contexts.forCall({ path, deadline })),
        ) as ModelRoute;
        return state === undefined ? chosen : { ...chosen, state: plainCopy(state) };
      });
  }

  systemPrompt(): string {
    return this.runSystemPrompt ?? this.#host.session().basePrompt();
  }

  /** Reports the first of several open dialogs, and their end. No dialog waits for these handlers. */
  #onPrompt(kind: ExtensionEvent<'ui_prompt_start'>['kind'], title: string): () => void {
    if (!this.#host.hasUi()) return () => {};
    const prompt = { reason: 'ui_prompt', kind, ...(title ? { title } : {}) } as const;
    if (this.#openPrompts++ === 0) void this.notify({ type: 'ui_prompt_start', ...prompt });
    return () => {
      if (--this.#openPrompts === 0) void this.notify({ type: 'ui_prompt_end', ...prompt });
    };
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
        handler(event, this.contexts.forCall({ path: extension.path, deadline })),
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

// Counts the turns of a run and keeps the partial assistant message, as pi's events carry both.
class TurnCounter {
  readonly #applyStep: ExtensionHost['applyStep'];
  turn = 0;
  /** Kept only while a handler receives `message_update`. */
  partialMessage: AssistantMessage | undefined;

  constructor(applyStep: ExtensionHost['applyStep']) {
    this.#applyStep = applyStep;
  }

  apply(event: RunEvent, { withSteps }: { withSteps: boolean }): void {
    if (event.type === 'agent_start') this.turn = 0;
    else if (event.type === 'message_start' && event.message.role === 'assistant') this.partialMessage = event.message;
    else if (event.type === 'message_update' && this.partialMessage && withSteps) {
      this.partialMessage = this.#applyStep(this.partialMessage, event.assistantMessageEvent);
    }
  }
}
