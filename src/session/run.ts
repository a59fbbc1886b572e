import { setMaxListeners } from 'node:events';
import type { Continuation } from '../agent/hooks.ts';
import { type Conversation, type LoopEvent, runTurns } from '../agent/loop.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import type {
  AgentEndEvent,
  AgentEvent,
  AgentMessage,
  AgentSettledEvent,
  AssistantMessage,
  RunError,
  RunOutcome,
} from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import type { Activity } from './activity.ts';
import { Budget } from './budget.ts';
import type { RunEvent, SessionHooks } from './hooks.ts';
import type { Recovery, Remedy } from './recovery.ts';
import { StorageFailure, type Transcript } from './transcript.ts';

/** Who hears what happens, and whether they keep up. */
export interface Audience {
  publish(event: AgentEvent): void;
  /** Undefined while everybody keeps up; otherwise settles when they do again. */
  drained(): Promise<void> | undefined;
}

/** What a run works with. */
export interface RunParts {
  /** The stored messages that open it. */
  readonly opening: readonly AgentMessage[];
  readonly transcript: Transcript;
  readonly audience: Audience;
  readonly activity: Activity;
  readonly hooks: SessionHooks;
  readonly recovery: (run: Run) => Recovery;
  readonly conversation: (run: Run) => Conversation;
  /** Stores what is to be said before the end without another answer of the model. */
  readonly lastWords: () => AgentMessage[];
  readonly hasWaiting: () => boolean;
  /** Messages that have come in since the agent stopped, stored and ready to go on with; undefined when there are none. */
  readonly takeWaiting: (run: Run) => AgentMessage[] | undefined;
}

const LONG_MS = 2 ** 30;

/** From idle to idle: everything that follows from one prompt, whatever else joins it. */
export class Run {
  readonly id = newUuid();
  readonly clientMessageIds: string[] = [];
  readonly budget = new Budget();
  readonly #controller = new AbortController();
  readonly #parts: RunParts;
  readonly #settled: Promise<AgentSettledEvent>;
  #settle: (event: AgentSettledEvent) => void = () => {};
  #shortage: string | undefined;
  #failure: { errorCode: RunError; errorMessage: string } | undefined;
  /** The answer that failed, as long as something may be done about it. */
  #failed: AssistantMessage | undefined;
  readonly recovery: Recovery;

  constructor(parts: RunParts) {
    // Every tool that runs listens to it, and an answer may call many.
    setMaxListeners(0, this.#controller.signal);
    this.#parts = parts;
    this.recovery = parts.recovery(this);
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get opening(): readonly AgentMessage[] {
    return this.#parts.opening;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles with the run's last event, after that was published. */
  get settled(): Promise<AgentSettledEvent> {
    return this.#settled;
  }

  /** Asks the budget for the model call that is wanted now. Where it does not allow that, the run ends for want of it. */
  claimCall(): boolean {
    this.#shortage = this.budget.exhausted;
    return this.#shortage === undefined;
  }

  serve(clientMessageId: string | undefined): void {
    if (clientMessageId !== undefined) this.clientMessageIds.push(clientMessageId);
  }

  /** Makes everything stop; `settled` tells when it has. */
  abort(): void {
    this.#controller.abort();
  }

  /** Works until nothing is left to do. Whatever goes wrong is told by events: this never rejects. */
  async drive(): Promise<void> {
    // A model that answers nothing keeps no process alive; the run does.
    const alive = setInterval(() => {}, LONG_MS);
    const { audience, hooks, transcript } = this.#parts;
    const talk = this.#parts.conversation(this);
    // The conversation may have come from a larger model.
    await this.#attempt(() => this.recovery.makeRoom());
    let messages: readonly AgentMessage[] | undefined = this.opening;
    while (messages) {
      const added = await this.#pass(messages, talk);
      const wish = await this.#attempt(() => this.#lastWish(added));
      await this.#attempt(() => transcript.sync());
      messages = await this.#conclude(added, wish);
    }
    this.recovery.end();
    this.#sayLastWords();
    const event = this.#lastWord();
    clearInterval(alive);
    audience.publish(event);
    this.#settle(event);
    // Whoever hears of it may begin the next run.
    await this.#settled;
    await this.#attempt(async () => hooks.observe?.(event, this.signal));
  }

  /** Ends a stretch of work; answers what the next one begins with, if there is to be one. */
  async #conclude(added: AgentMessage[], wish: Continuation | undefined): Promise<readonly AgentMessage[] | undefined> {
    const failed = this.#failed;
    const remedy = failed && this.#isCurable ? await this.#attempt(() => this.recovery.remedyFor(failed)) : undefined;
    const end = (): AgentEndEvent => ({
      type: 'agent_end',
      messages: added,
      willRetry: remedy?.kind === 'retry',
      isTerminal: !remedy && !this.#goesOn(wish),
    });
    await this.#attempt(async () => this.#observed(end()));
    this.#parts.audience.publish(end());
    if (remedy) return this.#cured(remedy);
    if (failed) this.#giveUp(failed);
    if (this.#isFree && !this.#isWanted(wish)) await this.#attempt(() => this.recovery.makeRoom());
    // Nothing is awaited from here to the end: a message comes in time to be served, or opens the next run.
    return this.#handOver(wish);
  }

  /** Does something about a failure; then the model is asked again. */
  async #cured(remedy: Remedy): Promise<readonly AgentMessage[] | undefined> {
    const failure = this.#failure;
    this.#failed = undefined;
    // What goes wrong on the way, or an abort, is the end of the run then, and not what was to be cured.
    this.#failure = undefined;
    const isCured = await this.#attempt(() => this.recovery.apply(remedy));
    if (this.signal.aborted) return undefined;
    if (isCured) return [];
    this.#failure = failure;
    return undefined;
  }

  #giveUp(failed: AssistantMessage): void {
    const errorMessage = this.recovery.giveUp(failed);
    const failure = this.#failure;
    if (failure && failure.errorMessage === failed.errorMessage) this.#failure = { ...failure, errorMessage };
  }

  #handOver(wish: Continuation | undefined): readonly AgentMessage[] | undefined {
    try {
      if (!this.#isFree || !this.#isWanted(wish) || !this.claimCall()) return undefined;
      return wish?.continue ? [] : this.#parts.takeWaiting(this);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** One stretch of work; answers the messages it added to the conversation. */
  async #pass(first: readonly AgentMessage[], talk: Conversation): Promise<AgentMessage[]> {
    const { audience, activity } = this.#parts;
    const added: AgentMessage[] = [];
    await this.#attempt(async () => {
      for await (const event of runTurns(first, talk)) {
        try {
          this.#keep(event);
          if (event.type === 'message_end') added.push(event.message);
          activity.note(event);
          const heard = this.#observed(event);
          if (heard !== undefined) await heard;
          audience.publish(event);
          if (event.type === 'message_end' && event.message.role === 'assistant') this.recovery.heard(event.message);
        } catch (error) {
          // Before the loop is left: it ends when its tools have.
          this.#fail(error);
          throw error;
        }
        const room = audience.drained();
        if (room !== undefined) await activity.during('client', () => unlessAborted(room, this.signal));
      }
    });
    activity.rest();
    return added;
  }

  /** Nothing to wait for where nobody listens. */
  #observed(event: RunEvent): Promise<void> | undefined {
    const heard = this.#parts.hooks.observe?.(event, this.signal);
    return heard === undefined ? undefined : unlessAborted(heard, this.signal);
  }

  /** What a hook wants before the run ends; the messages it has for that are said at once. */
  async #lastWish(added: AgentMessage[]): Promise<Continuation | undefined> {
    const { hooks, transcript } = this.#parts;
    const answer = hooks.beforeSettle?.({ runId: this.id, outcome: this.#outcome }, this.signal);
    const wish = answer === undefined ? undefined : await unlessAborted(answer, this.signal);
    for (const wished of wish?.messages ?? []) {
      const message = transcript.add(wished);
      added.push(message);
      this.#say([message]);
    }
    return wish;
  }

  /** At once: a message that comes now opens the next run. */
  #sayLastWords(): void {
    try {
      this.#say(this.#parts.lastWords());
    } catch (error) {
      this.#fail(error);
    }
  }

  #say(messages: readonly AgentMessage[]): void {
    for (const message of messages) {
      this.#parts.audience.publish({ type: 'message_start', message });
      this.#parts.audience.publish({ type: 'message_end', message });
    }
  }

  #goesOn(wish: Continuation | undefined): boolean {
    return this.#isFree && this.#isWanted(wish) && this.budget.exhausted === undefined;
  }

  /** Whether the failure of an answer is all that has ended the run. */
  get #isCurable(): boolean {
    return !this.signal.aborted && this.#shortage === undefined && this.budget.exhausted === undefined;
  }

  /** Whether nothing has ended the run yet. */
  get #isFree(): boolean {
    return !this.signal.aborted && !this.#failure && this.#shortage === undefined;
  }

  #isWanted(wish: Continuation | undefined): boolean {
    return wish?.continue === true || this.#parts.hasWaiting();
  }

  /** Stores what the agent said before anybody hears the whole of it. What clients said was stored when accepted. */
  #keep(event: LoopEvent): void {
    const message = wholeMessage(event);
    if (!message) return;
    this.#parts.transcript.add(message);
    if (message.role !== 'assistant') return;
    this.budget.spend(message.usage);
    if (message.stopReason === 'error') {
      this.#failed = message;
      this.#failure ??= { errorCode: message.errorCode ?? 'model_error', errorMessage: message.errorMessage ?? '' };
    }
  }

  /** A step that may fail: then the run has failed, and everything it started is stopped. */
  async #attempt<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { errorCode: codeOf(error), errorMessage: messageOf(error) };
    this.abort();
  }

  get #outcome(): RunOutcome {
    if (this.#failure) return 'error';
    if (this.signal.aborted) return 'aborted';
    return this.#shortage === undefined ? 'ok' : 'budget';
  }

  #lastWord(): AgentSettledEvent {
    const outcome = this.#outcome;
    return {
      type: 'agent_settled',
      runId: this.id,
      aborted: outcome === 'aborted',
      outcome,
      ...(outcome === 'budget' ? { errorMessage: this.#shortage } : {}),
      ...this.#failure,
      clientMessageIds: [...this.clientMessageIds],
    };
  }
}

/** The message that this event is the first to carry whole, if it is one of the agent's. */
function wholeMessage(event: LoopEvent): AgentMessage | undefined {
  if (event.type === 'message_start' && event.message.role === 'toolResult') return event.message;
  if (event.type !== 'message_update') return undefined;
  const step = event.assistantMessageEvent;
  if (step.type === 'done') return step.message;
  return step.type === 'error' ? step.error : undefined;
}

/** A model that went away in the middle of a run is nobody's bug. */
function codeOf(error: unknown): RunError {
  if (error instanceof StorageFailure) return 'storage_failed';
  return error instanceof Refusal && error.code === 'model_not_found' ? 'model_error' : 'internal';
}
