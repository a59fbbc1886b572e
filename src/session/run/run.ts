import { setMaxListeners } from 'node:events';
import type { Continuation } from '../../agent/hooks.ts';
import { type Conversation, type LoopEvent, runTurns } from '../../agent/loop.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import { strictestMode } from '../../protocol/approvals/approval-modes.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type {
  AgentEndEvent,
  AgentEvent,
  AgentMessage,
  AgentSettledEvent,
  ApprovalMode,
  AssistantMessage,
  RunError,
  RunOutcome,
  Usage,
} from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { RunEvent, SessionHooks } from '../hooks.ts';
import { StorageFailure, type Transcript } from '../transcript.ts';
import type { Activity } from './activity.ts';
import { Budget } from './budget.ts';
import type { HttpFailure, Recovery, Remedy } from './recovery.ts';

/** Receives the events of a session. */
export interface EventSink {
  publish(event: AgentEvent): void;
  /** Undefined while every reader keeps up; otherwise settles when they do again. */
  drained(): Promise<void> | undefined;
}

/** Dependencies of a run. */
export interface RunParts {
  /** The stored messages that open it. */
  readonly opening: readonly AgentMessage[];
  readonly transcript: Transcript;
  readonly events: EventSink;
  readonly activity: Activity;
  readonly hooks: SessionHooks;
  readonly recovery: (run: Run) => Recovery;
  readonly conversation: (run: Run) => Conversation;
  /** Stores and returns messages to add at the end without another model call. */
  readonly closingMessages: () => AgentMessage[];
  readonly hasPending: () => boolean;
  /** Stores and returns messages that arrived since the loop ended; undefined when there are none. */
  readonly takePending: (run: Run) => AgentMessage[] | undefined;
}

const KEEP_ALIVE_MS = 2 ** 30;

/** Runs from the first prompt to `agent_settled`, including every message that joins. */
export class Run {
  readonly id = newUuid();
  readonly clientMessageIds: string[] = [];
  readonly budget = new Budget((reason) => this.#stopAtDeadline(reason));
  readonly #controller = new AbortController();
  readonly #parts: RunParts;
  readonly #settled: Promise<AgentSettledEvent>;
  #settle: (event: AgentSettledEvent) => void = () => {};
  #approvalLimit: ApprovalMode | undefined;
  #budgetError: string | undefined;
  /** Why the time limit stopped the run. */
  #deadlineError: string | undefined;
  #isEnding = false;
  #failure: ({ errorCode: RunError; errorMessage: string } & HttpFailure) | undefined;
  #lastStored: AgentMessage | undefined;
  /** The failed assistant message, while a remedy may exist. */
  #failedMessage: AssistantMessage | undefined;
  readonly recovery: Recovery;

  constructor(parts: RunParts) {
    // Every running tool adds a listener, and one message may call many tools.
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

  /** Whether the run was aborted and has sent `agent_end`: no message can join it any more. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Resolves with `agent_settled` after it was published. */
  get settled(): Promise<AgentSettledEvent> {
    return this.#settled;
  }

  /** Reserves one model call; false ends the run with outcome `budget`. */
  claimCall(): boolean {
    this.#budgetError = this.budget.exhaustedReason;
    return this.#budgetError === undefined;
  }

  addClientMessageId(clientMessageId: string | undefined): void {
    if (clientMessageId !== undefined) this.clientMessageIds.push(clientMessageId);
  }

  /** Keeps the run to the strictest limit of all messages that joined it. */
  limitApprovals(limit: ApprovalMode | undefined): void {
    this.#approvalLimit = strictestMode(this.#approvalLimit, limit);
  }

  /** The loosest approval mode of the run; undefined: that of its session. */
  get approvalLimit(): ApprovalMode | undefined {
    return this.#approvalLimit;
  }

  /** Aborts all work; `settled` resolves when it has stopped. */
  abort(reason?: DOMException): void {
    this.#controller.abort(reason);
  }

  /** Stops all work as an abort does, but the run settles with outcome `budget`. */
  #stopAtDeadline(reason: string): void {
    if (this.signal.aborted) return;
    this.#deadlineError = reason;
    this.#controller.abort();
  }

  /** Works until nothing is left to do. Never rejects: failures are published as events. */
  async drive(): Promise<void> {
    // A model that does not respond keeps no process alive; the run must.
    const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
    const { events, hooks, transcript } = this.#parts;
    const conversation = this.#parts.conversation(this);
    // The conversation may come from a model with a larger context.
    await this.#attempt(() => this.recovery.compactIfDue());
    let messages: readonly AgentMessage[] | undefined = this.opening;
    while (messages) {
      const added = await this.#pass(messages, conversation);
      const next = await this.#attempt(() => this.#beforeSettle(added));
      const sync = () => this.#attempt(() => transcript.sync());
      if (!this.signal.aborted) await sync();
      messages = await this.#endPass(added, next);
      // After an abort only `agent_settled` can follow, and it alone waits for the device.
      if (this.signal.aborted) await sync();
      // Messages may arrive while closing ones are synced.
      while (!messages && this.#publishClosing()) {
        await this.#attempt(() => transcript.sync());
        messages = this.#nextMessages(undefined);
      }
    }
    this.recovery.end();
    this.budget.close();
    const event = this.#settledEvent();
    clearInterval(keepAlive);
    events.publish(event);
    this.#settle(event);
    // Handlers of `settled` may start the next run before the hook runs.
    await this.#settled;
    await this.#attempt(async () => hooks.observe?.(event, this.signal));
  }

  /** Publishes `agent_end`; returns the messages of the next pass, if there is one. */
  async #endPass(added: AgentMessage[], next: Continuation | undefined): Promise<readonly AgentMessage[] | undefined> {
    const failed = this.#failedMessage;
    const remedy = failed && this.#canRecover ? await this.#attempt(() => this.recovery.remedyFor(failed)) : undefined;
    const end = (): AgentEndEvent => ({
      type: 'agent_end',
      messages: added,
      willRetry: remedy?.kind === 'retry',
      isTerminal: !remedy && !this.#willContinue(next),
    });
    await this.#attempt(async () => this.#observe(end()));
    this.#parts.events.publish(end());
    this.#isEnding = this.signal.aborted;
    if (remedy) return this.#applyRemedy(remedy);
    if (failed) this.#giveUp(failed);
    if (this.#canContinue && !this.#hasMoreWork(next)) await this.#attempt(() => this.recovery.compactIfDue());
    // Without an abort nothing is awaited from here to the end, but for closing messages: a message joins this run or
    // opens the next. After an abort, submissions wait for the end (`isEnding`).
    return this.#nextMessages(next);
  }

  /** Applies a remedy; an empty list calls the model again. */
  async #applyRemedy(remedy: Remedy): Promise<readonly AgentMessage[] | undefined> {
    const failure = this.#failure;
    this.#failedMessage = undefined;
    // A failure or abort during the remedy replaces the original failure.
    this.#failure = undefined;
    const shouldRetry = await this.#attempt(() => this.recovery.apply(remedy));
    if (this.signal.aborted) return undefined;
    if (shouldRetry) return [];
    this.#failure = failure;
    return undefined;
  }

  #giveUp(failed: AssistantMessage): void {
    const errorMessage = this.recovery.giveUp(failed);
    const failure = this.#failure;
    if (failure && failure.errorMessage === failed.errorMessage) this.#failure = { ...failure, errorMessage };
  }

  #nextMessages(next: Continuation | undefined): readonly AgentMessage[] | undefined {
    try {
      if (!this.#canContinue || !this.#hasMoreWork(next) || !this.claimCall()) return undefined;
      return next?.continue ? [] : this.#parts.takePending(this);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Runs the loop once; returns the messages it added to the conversation. */
  async #pass(first: readonly AgentMessage[], conversation: Conversation): Promise<AgentMessage[]> {
    const { events, activity } = this.#parts;
    const added: AgentMessage[] = [];
    await this.#attempt(async () => {
      for await (const event of runTurns(first, conversation)) {
        try {
          this.#storeMessage(event);
          if (event.type === 'message_end') added.push(event.message);
          activity.apply(event);
          const hookDone = this.#observe(event);
          if (hookDone !== undefined) await hookDone;
          events.publish(event);
          if (event.type === 'message_end' && event.message.role === 'assistant')
            this.recovery.onMessage(event.message);
        } catch (error) {
          // Before the loop is left: it ends when its tools have.
          this.#fail(error);
          throw error;
        }
        const drained = events.drained();
        if (drained !== undefined) await activity.during('client', () => unlessAborted(drained, this.signal));
      }
    });
    activity.clear();
    return added;
  }

  /** Undefined without an observer, so that nothing is awaited. */
  #observe(event: RunEvent): Promise<void> | undefined {
    const hookDone = this.#parts.hooks.observe?.(event, this.signal);
    return hookDone === undefined ? undefined : unlessAborted(hookDone, this.signal);
  }

  /** Calls the `beforeSettle` hook, and stores and publishes its messages. */
  async #beforeSettle(added: AgentMessage[]): Promise<Continuation | undefined> {
    const { hooks, transcript } = this.#parts;
    const hookCall = hooks.beforeSettle?.({ runId: this.id, outcome: this.#outcome }, this.signal);
    const next = hookCall === undefined ? undefined : await unlessAborted(hookCall, this.signal);
    for (const draft of next?.messages ?? []) {
      const message = transcript.add(draft);
      added.push(message);
      this.#publishMessages([message]);
    }
    return next;
  }

  /** Stores and publishes the closing messages; returns whether there were any. */
  #publishClosing(): boolean {
    try {
      const messages = this.#parts.closingMessages();
      this.#publishMessages(messages);
      return messages.length > 0;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #publishMessages(messages: readonly AgentMessage[]): void {
    for (const message of messages) {
      this.#parts.events.publish({ type: 'message_start', message });
      this.#parts.events.publish({ type: 'message_end', message });
    }
  }

  #willContinue(next: Continuation | undefined): boolean {
    return this.#canContinue && this.#hasMoreWork(next) && this.budget.exhaustedReason === undefined;
  }

  /** Whether only the failed assistant message ended the run. */
  get #canRecover(): boolean {
    return !this.signal.aborted && this.#budgetError === undefined && this.budget.exhaustedReason === undefined;
  }

  /** Whether nothing has ended the run yet. */
  get #canContinue(): boolean {
    return !this.signal.aborted && !this.#failure && this.#budgetError === undefined;
  }

  #hasMoreWork(next: Continuation | undefined): boolean {
    return next?.continue === true || this.#parts.hasPending();
  }

  /** Stores each complete message before its last event is published. Clients' messages were stored when accepted. */
  #storeMessage(event: LoopEvent): void {
    const message = completedMessage(event);
    if (!message || message === this.#lastStored) return;
    this.#lastStored = message;
    this.#parts.transcript.add(message);
    // Models that a tool called count as well.
    if (message.role === 'toolResult' && message.usage) this.budget.addUsage(message.usage as Usage);
    if (message.role !== 'assistant') return;
    this.budget.addTurn(message.usage);
    if (message.stopReason === 'error') {
      this.#failedMessage = message;
      const { errorCode = 'model_error', errorMessage = '' } = message;
      this.#failure ??= { errorCode, errorMessage, ...this.recovery.httpFailure };
    }
  }

  /** Runs a step; its failure fails the run and aborts all work. */
  async #attempt<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { errorCode: errorCodeOf(error), errorMessage: messageOf(error) };
    this.abort();
  }

  get #outcome(): RunOutcome {
    if (this.#failure) return 'error';
    if (this.#deadlineError !== undefined) return 'budget';
    if (this.signal.aborted) return 'aborted';
    return this.#budgetError === undefined ? 'ok' : 'budget';
  }

  #settledEvent(): AgentSettledEvent {
    const outcome = this.#outcome;
    return {
      type: 'agent_settled',
      runId: this.id,
      aborted: outcome === 'aborted',
      outcome,
      ...(outcome === 'budget' ? { errorMessage: this.#deadlineError ?? this.#budgetError } : {}),
      ...this.#failure,
      clientMessageIds: [...this.clientMessageIds],
    };
  }
}

/** The complete message in this event, if the agent produced it. */
function completedMessage(event: LoopEvent): AgentMessage | undefined {
  if (event.type === 'message_start' && event.message.role === 'toolResult') return event.message;
  // An assistant message without a response has no steps.
  if (event.type === 'message_end' && event.message.role === 'assistant') return event.message;
  if (event.type !== 'message_update') return undefined;
  const step = event.assistantMessageEvent;
  if (step.type === 'done') return step.message;
  return step.type === 'error' ? step.error : undefined;
}

/** A model that became unavailable during a run is not an internal error. */
function errorCodeOf(error: unknown): RunError {
  if (error instanceof StorageFailure) return 'storage_failed';
  return error instanceof Refusal && error.code === 'model_not_found' ? 'model_error' : 'internal';
}
