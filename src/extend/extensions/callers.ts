import { sifted } from './answers.ts';
import { Contexts } from './context.ts';
import { Deadline, DeadlineMissed } from './deadline.ts';
import type { Answered, EventName, Told } from './events.ts';
import type { Extension } from './extension.ts';
import type { ExtensionHandler } from './extension-api.ts';
import type { ExtensionHost } from './host.ts';
import { Progress } from './progress.ts';

/** How long a handler may take, unless the user's settings say otherwise. */
const HANDLER_MS = 60_000;

/** How long one may take that has a summary written. */
const SUMMARY_MS = 10 * 60_000;

const SLOW: ReadonlySet<EventName> = new Set(['session_before_compact', 'session_before_tree']);

/** What happens so often that a handler which once took too long is not called again. */
const FREQUENT: ReadonlySet<EventName> = new Set(['message_update', 'tool_execution_update']);

/** Calls the handlers of extensions, one after another. None of them can fail, hold up or end what it steps into. */
export class Callers {
  readonly #host: ExtensionHost;
  readonly #extensions: () => readonly Extension[];
  readonly #givenUp = new WeakSet<object>();
  readonly contexts: Contexts;
  /** Where the run is that is active. */
  readonly progress: Progress;
  /** Its extensions are gone. */
  isClosed = false;
  /** The system prompt of the run that is active, if a handler gave it one. */
  runPrompt: string | undefined;

  constructor(host: ExtensionHost, extensions: () => readonly Extension[]) {
    this.#host = host;
    this.#extensions = extensions;
    this.progress = new Progress(host.fold);
    this.contexts = new Contexts(host, () => this.systemPrompt());
  }

  hears(...events: EventName[]): boolean {
    return this.#extensions().some((extension) => events.some((event) => extension.hears(event)));
  }

  /** Tells everybody who listens. */
  async tell<E extends EventName>(told: Told<E>): Promise<void> {
    for await (const _answer of this.answers(told));
  }

  /** What each handler answers, where it answers something; the next is asked when this one was dealt with. */
  async *answers<E extends EventName>(told: Told<E>): AsyncGenerator<Answered<E> & object> {
    for await (const { answer } of this.answersBy(told)) yield answer;
  }

  /** The same, with whose handler it is. */
  async *answersBy<E extends EventName>(
    told: Told<E>,
  ): AsyncGenerator<{ answer: Answered<E> & object; extension: Extension }> {
    for (const { answer, extension } of this.#calls(told)) {
      const value = await answer.catch(() => undefined);
      if (typeof value === 'object' && value !== null) yield { answer: value, extension };
    }
  }

  /** The same, but what a handler throws is thrown; and where the handlers are gone nobody can say yes. */
  async *verdicts<E extends EventName>(told: Told<E>): AsyncGenerator<Answered<E> & object> {
    if (this.isClosed) throw new Error('The extensions were loaded again before they could decide');
    for (const { answer } of this.#calls(told)) {
      const value = await answer;
      if (typeof value === 'object' && value !== null) yield value;
    }
  }

  /** What the model is told before the conversation. */
  systemPrompt(): string {
    return this.runPrompt ?? this.#host.session().basePrompt();
  }

  *#calls<E extends EventName>(
    told: Told<E>,
  ): Generator<{ answer: Promise<Answered<E> | undefined>; extension: Extension }> {
    for (const extension of this.#extensions()) {
      for (const handler of extension.handlers(told.type)) {
        if (!this.#givenUp.has(handler)) yield { answer: this.#call(extension, handler, told), extension };
      }
    }
  }

  async #call<E extends EventName>(extension: Extension, handler: ExtensionHandler<E>, told: Told<E>) {
    try {
      const answer = await Deadline.race(this.#limitFor(told.type), (deadline) =>
        handler(told, this.contexts.forCall({ deadline })),
      );
      return sifted(answer, told);
    } catch (error) {
      if (error instanceof DeadlineMissed && FREQUENT.has(told.type)) this.#givenUp.add(handler);
      this.#host.failed(extension.path, told.type, error);
      throw error;
    }
  }

  #limitFor(event: EventName): number {
    const limit = this.#host.project().settings.extensionTimeoutMs ?? HANDLER_MS;
    return SLOW.has(event) ? Math.max(limit, SUMMARY_MS) : limit;
  }
}
