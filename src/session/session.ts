import type { Permit } from '../agent/permission.ts';
import type { Tool } from '../agent/tool.ts';
import type { ShellOptions } from '../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../model/registry/registry.ts';
import type {
  Accepted,
  AgentMessage,
  AgentSettledEvent,
  CompactionResult,
  ContextUsage,
  Limits,
  Params,
  Result,
} from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';
import { Compactor } from './compaction/compactor.ts';
import { contextUsage } from './context/context-usage.ts';
import type { MessagePages } from './context/message-page.ts';
import { overheadOf } from './context/model-request.ts';
import { type PromptFacts, type PromptParts, RunSystemPrompt, systemPrompt } from './context/system-prompt.ts';
import { latestRequest, TokenScale } from './context/token-scale.ts';
import type { SessionHooks } from './hooks.ts';
import { type IdleTask, IdleTasks } from './idle-tasks.ts';
import { type InjectedMessage, InjectedMessages, type InjectionOptions } from './input/injected-messages.ts';
import { type InputOptions, NEVER_ABORTED } from './input/input.ts';
import { PendingInput } from './input/pending-input.ts';
import { MessageQueue, type QueueKind } from './input/queue.ts';
import { type Acceptance, type RunOptions, type Submission, Submissions } from './input/submissions.ts';
import type { ModelChoice } from './model-choice.ts';
import type { NavigationParts } from './navigate.ts';
import { Activity } from './run/activity.ts';
import { conversationOf } from './run/conversation.ts';
import { type AutoFeatures, Recovery } from './run/recovery.ts';
import { measuredChoice } from './run/routing.ts';
import { type EventSink, Run } from './run/run.ts';
import type { DeliveryModes } from './session-modes.ts';
import { ShellCommands } from './shell-commands.ts';
import { Transcript } from './transcript.ts';

export interface SessionParts {
  readonly log: SessionLog;
  readonly events: EventSink;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  /** The tools that the model is offered now. */
  readonly tools: () => readonly Tool[];
  /** Tools that tools may call; by default `tools`. */
  readonly callableTools?: (() => readonly Tool[]) | undefined;
  /** Decides whether the tool calls of a run may run; undefined when it is called: all may. */
  readonly permit?: ((run: Run) => Permit | undefined) | undefined;
  /** The current shell options. */
  readonly shell: () => ShellOptions;
  readonly promptParts: () => PromptParts;
  readonly settings: () => Settings;
  readonly choice: ModelChoice;
  readonly modes: DeliveryModes;
  readonly automatic: AutoFeatures;
  /** Whether the host of the agent stores the entries too; then no model and no tool runs ahead of it. */
  readonly keptByHost?: boolean | undefined;
}

/** A conversation that is idle or in exactly one run. */
export class Session {
  readonly transcript: Transcript;
  readonly queue: MessageQueue;
  readonly activity = new Activity();
  readonly modes: DeliveryModes;
  readonly automatic: AutoFeatures;
  readonly shell: ShellCommands;
  readonly compactor: Compactor;
  choice: ModelChoice;
  lastRun: AgentSettledEvent | undefined;
  /** Created by the first page request. */
  pages: MessagePages | undefined;
  readonly #parts: Omit<SessionParts, 'choice'> & NavigationParts;
  readonly #scale: TokenScale;
  readonly #injected: InjectedMessages;
  readonly #pendingInput: PendingInput;
  readonly #idleTasks: IdleTasks;
  readonly #submissions: Submissions;
  #run: Run | undefined;

  constructor(parts: SessionParts) {
    const { events, modes } = parts;
    this.choice = parts.choice;
    this.modes = modes;
    this.automatic = parts.automatic;
    this.transcript = new Transcript(parts.log, (entry) => events.publish({ type: 'entry_appended', entry }), {
      keptByHost: parts.keptByHost,
    });
    this.queue = new MessageQueue(this.transcript, (update) => events.publish(update));
    this.#scale = new TokenScale(() => latestRequest(this.transcript.messages, () => this.#overhead()));
    this.#injected = new InjectedMessages(this.transcript);
    this.#pendingInput = new PendingInput({
      queue: this.queue,
      injected: this.#injected,
      modeOf: (kind) => (kind === 'steer' ? modes.steering : modes.followUp),
    });
    this.#parts = {
      ...parts,
      transcript: this.transcript,
      activity: this.activity,
      choice: () => this.choice,
      isRunning: () => this.#run !== undefined,
      promptFacts: (prompt) => this.promptFacts(prompt),
      scale: this.#scale,
    };
    this.compactor = new Compactor({ ...this.#parts, choice: () => this.measuredChoice });
    this.shell = new ShellCommands(this.#parts);
    this.#idleTasks = new IdleTasks({ ...this.#parts, compactor: this.compactor });
    this.#submissions = new Submissions({
      ...this.#parts,
      queue: this.queue,
      injected: this.#injected,
      activeRun: () => this.#run,
      begin: (messages, options) => this.#begin(messages, options),
    });
  }

  get log(): SessionLog {
    return this.transcript.log;
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** The choice whose limits apply: for a virtual model, the model that answered last. */
  get measuredChoice(): ModelChoice {
    return measuredChoice(this.choice, this.transcript, this.#parts.registry);
  }

  /** Whether a message waits for a run. */
  get hasPendingInput(): boolean {
    return !this.#pendingInput.isEmpty;
  }

  /** Opens a run, or joins the active one as `streamingBehavior` requests. */
  prompt(submission: Submission, options: InputOptions = {}): Promise<Acceptance> {
    return this.#submissions.prompt(submission, options);
  }

  /** Queues a message that no run takes before `promptHeld`; undefined for one that is stored already. */
  hold(submission: Submission, kind: QueueKind | undefined): Accepted | undefined {
    return this.#submissions.hold(submission, kind);
  }

  /** Opens a run with a held message. After an abort, or while a run is active, the message stays in the queue. */
  promptHeld(queueId: string, limits: Limits | undefined, options: InputOptions): Promise<Acceptance | undefined> {
    return this.#submissions.promptHeld(queueId, limits, options);
  }

  /** How full the context is, by reported usage and an estimate of what follows it. */
  get contextUsage(): ContextUsage | undefined {
    const { model } = this.measuredChoice;
    return model ? contextUsage(this.transcript.messages, model, this.#scale.slope(model)) : undefined;
  }

  /**
   * Replaces the old part of the conversation by a summary, after aborting the run. The signal cancels it. A run
   * continues when there is nothing to summarise.
   */
  async compact(
    customInstructions: string | undefined,
    caller: AbortSignal = NEVER_ABORTED,
  ): Promise<CompactionResult> {
    if (this.#run) await this.compactor.requirePossible();
    await this.abort();
    return this.#idleTasks.compact(customInstructions, caller);
  }

  /** Continues the conversation from another entry of the tree. The signal, or an abort, cancels it. */
  navigate(
    targetId: string,
    params: Omit<Params<'navigate_tree'>, 'targetId'> = {},
    caller: AbortSignal = NEVER_ABORTED,
  ): Promise<Result<'navigate_tree'>> {
    return this.#idleTasks.navigate({ ...params, targetId }, caller);
  }

  /** Adds a message beside the user's: at once, to the active run, or with the next one. */
  inject(message: InjectedMessage, options: InjectionOptions = {}): Acceptance {
    return this.#submissions.inject(message, options);
  }

  /** Cancels only this kind of task. A run continues without the compaction that it started itself. */
  cancel(kind: IdleTask): void {
    this.#idleTasks.cancel(kind);
    if (kind === 'compaction') this.#run?.recovery.cancelCompaction();
  }

  /**
   * Aborts the run or idle task; settles when everything has stopped. Queued messages stay for the next run unless
   * `clearQueue`: after an abort neither the loop nor the run takes one.
   */
  async abort(options: { clearQueue?: boolean | undefined; reason?: DOMException | undefined } = {}): Promise<void> {
    const stopped = this.#idleTasks.abort();
    this.#run?.abort(options.reason);
    if (stopped !== undefined) await stopped;
    await this.#run?.settled;
    if (options.clearQueue) this.queue.clear();
  }

  /** Aborts the run for a message with priority. An invalid message, or a duplicate, aborts nothing. */
  abortFor(submission: Submission): Promise<void> {
    return this.#submissions.isNew(submission) ? this.abort() : Promise.resolve();
  }

  /** Aborts the run and every shell command of clients; settles when this session is idle. */
  async stop(reason?: DOMException): Promise<void> {
    await Promise.all([this.abort({ reason }), this.shell.abort()]);
  }

  /** Settles when no run is active. */
  async idle(): Promise<void> {
    while (this.#run) await this.#run.settled;
  }

  #begin(messages: AgentMessage[], { clientMessageId, limits, approvalLimit }: RunOptions) {
    const run = new Run({
      ...this.#parts,
      opening: messages,
      recovery: (active) => this.#recovery(active),
      conversation: (active) =>
        conversationOf(active, {
          ...this.#parts,
          pendingInput: this.#pendingInput,
        }),
      hasPending: () => this.hasPendingInput,
      closingMessages: () => this.#injected.deliver('end'),
      takePending: (active) => this.#pendingInput.take(active),
    });
    run.addClientMessageId(clientMessageId);
    run.budget.addLimits(limits);
    run.limitApprovals(approvalLimit);
    this.#run = run;
    void run.settled.then((event) => {
      this.lastRun = event;
      this.#run = undefined;
      this.queue.releaseClaims();
      this.shell.deliverEnded();
    });
    return { accepted: { disposition: 'started', runId: run.id } as const, begin: () => void run.drive() };
  }

  #recovery(run: Run): Recovery {
    return new Recovery({
      ...this.#parts,
      compactor: this.compactor,
      settings: this.#parts.settings(),
      signal: run.signal,
      budget: run.budget,
    });
  }

  /** The system prompt before hooks. */
  basePrompt(): string {
    return systemPrompt(this.promptFacts());
  }

  #overhead(): number {
    return overheadOf({ systemPrompt: this.basePrompt(), tools: this.#parts.tools() });
  }

  promptFacts(parts: PromptParts = this.#parts.promptParts()): PromptFacts {
    return { cwd: this.log.header.cwd, tools: this.#parts.tools(), parts };
  }

  /** The system prompt after hooks. */
  async systemPrompt(): Promise<string> {
    return new RunSystemPrompt(this.#parts.hooks, NEVER_ABORTED).resolve(this.basePrompt());
  }
}
