import { setMaxListeners } from 'node:events';
import { type Conversation, converse, type LoopEvent } from '../agent/loop.ts';
import type {
  AgentEvent,
  AgentMessage,
  AgentSettledEvent,
  RunError,
  RunOutcome,
} from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import type { Activity } from './activity.ts';
import type { SessionHooks } from './hooks.ts';
import { StorageFailure, type Transcript } from './transcript.ts';

/** Who hears what happens, and whether they keep up. */
export interface Audience {
  publish(event: AgentEvent): void;
  /** Undefined while everybody keeps up; otherwise settles when they do again. */
  room(): Promise<void> | undefined;
}

/** What a run works with. */
export interface RunParts {
  readonly transcript: Transcript;
  readonly audience: Audience;
  readonly activity: Activity;
  readonly hooks: SessionHooks;
  readonly conversation: (run: Run) => Conversation;
  readonly hasWaiting: () => boolean;
  /** Messages that have come in since the agent stopped, stored and ready to go on with; undefined when there are none. */
  readonly takeWaiting: (run: Run) => AgentMessage[] | undefined;
}

const LONG_MS = 2 ** 30;

/** From idle to idle: everything that follows from one prompt, whatever else joins it. */
export class Run {
  readonly id = newUuid();
  readonly clientMessageIds: string[] = [];
  readonly #controller = new AbortController();
  readonly #parts: RunParts;
  readonly #settled: Promise<AgentSettledEvent>;
  #settle: (event: AgentSettledEvent) => void = () => {};
  #failure: { errorCode: RunError; errorMessage: string } | undefined;

  constructor(parts: RunParts) {
    // Every tool that runs listens to it, and an answer may call many.
    setMaxListeners(0, this.#controller.signal);
    this.#parts = parts;
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles with the run's last event, after that was published. */
  get settled(): Promise<AgentSettledEvent> {
    return this.#settled;
  }

  serve(clientMessageId: string | undefined): void {
    if (clientMessageId !== undefined) this.clientMessageIds.push(clientMessageId);
  }

  /** Makes everything stop; `settled` tells when it has. */
  abort(): void {
    this.#controller.abort();
  }

  /** Works until nothing is left to do. Whatever goes wrong is told by events: this never rejects. */
  async drive(first: readonly AgentMessage[]): Promise<void> {
    // A model that answers nothing keeps no process alive; the run does.
    const alive = setInterval(() => {}, LONG_MS);
    const { audience, hooks, transcript } = this.#parts;
    let messages: readonly AgentMessage[] | undefined = first;
    while (messages) {
      const added = await this.#pass(messages);
      await this.#attempt(() => transcript.sync());
      await this.#attempt(async () => hooks.beforeSettle?.({ runId: this.id, outcome: this.#outcome }));
      // Nothing is awaited from here to the end: a message comes in time to be served, or opens the next run.
      const goesOn = this.#goesOn;
      audience.publish({ type: 'agent_end', messages: added, willRetry: false, isTerminal: !goesOn });
      messages = goesOn ? await this.#attempt(async () => this.#parts.takeWaiting(this)) : undefined;
    }
    const event = this.#lastWord();
    clearInterval(alive);
    audience.publish(event);
    this.#settle(event);
  }

  /** One stretch of work; answers the messages it added to the conversation. */
  async #pass(first: readonly AgentMessage[]): Promise<AgentMessage[]> {
    const { audience, activity, conversation } = this.#parts;
    const added: AgentMessage[] = [];
    await this.#attempt(async () => {
      for await (const event of converse(first, conversation(this))) {
        this.#keep(event);
        if (event.type === 'message_end') added.push(event.message);
        activity.note(event);
        audience.publish(event);
        const room = audience.room();
        if (room !== undefined) await activity.during('client', () => unlessAborted(room, this.signal));
      }
    });
    activity.rest();
    return added;
  }

  /** Stores what the agent said before anybody hears the whole of it. What clients said was stored when accepted. */
  #keep(event: LoopEvent): void {
    const message = wholeMessage(event);
    if (!message) return;
    this.#parts.transcript.add(message);
    if (message.role === 'assistant' && message.stopReason === 'error') {
      this.#failure ??= { errorCode: message.errorCode ?? 'model_error', errorMessage: message.errorMessage ?? '' };
    }
  }

  /** A step that may fail: then the run has failed, and everything it started is stopped. */
  async #attempt<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      const errorCode = error instanceof StorageFailure ? 'storage_failed' : 'internal';
      this.#failure ??= { errorCode, errorMessage: error instanceof Error ? error.message : String(error) };
      this.abort();
      return undefined;
    }
  }

  get #goesOn(): boolean {
    return !this.signal.aborted && !this.#failure && this.#parts.hasWaiting();
  }

  get #outcome(): RunOutcome {
    if (this.#failure) return 'error';
    return this.signal.aborted ? 'aborted' : 'ok';
  }

  #lastWord(): AgentSettledEvent {
    const outcome = this.#outcome;
    return {
      type: 'agent_settled',
      runId: this.id,
      aborted: outcome === 'aborted',
      outcome,
      ...this.#failure,
      clientMessageIds: [...this.clientMessageIds],
    };
  }
}

/** The message that this event is the first to carry whole, if it is one of the agent's. */
function wholeMessage(event: LoopEvent): AgentMessage | undefined {
  if (event.type === 'message_end' && event.message.role === 'toolResult') return event.message;
  if (event.type !== 'message_update') return undefined;
  const step = event.assistantMessageEvent;
  if (step.type === 'done') return step.message;
  return step.type === 'error' ? step.error : undefined;
}

/** Waits for the reader, but not beyond an abort: a client that never reads must still be able to stop the run. */
function unlessAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    void wait.then(done);
  });
}
