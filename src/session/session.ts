import type { Tool } from '../agent/tool.ts';
import type { ShellOptions } from '../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../model/registry/registry.ts';
import { Refusal } from '../protocol/errors.ts';
import type {
  Accepted,
  AgentMessage,
  AgentSettledEvent,
  CompactionResult,
  ImageInput,
  Limits,
  Params,
  Result,
} from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';
import { Compactor } from './compaction/compactor.ts';
import type { MessagePages } from './context/message-page.ts';
import { type PromptFacts, type PromptParts, RunSystemPrompt, systemPrompt } from './context/system-prompt.ts';
import type { SessionHooks, UserInput } from './hooks.ts';
import { type IdleTask, IdleTasks } from './idle-tasks.ts';
import { type InjectedMessage, InjectedMessages, type InjectionOptions } from './input/injected-messages.ts';
import { applyInputHooks, type InputOptions, NEVER_ABORTED, parseInput, userMessage } from './input/input.ts';
import { PendingInput } from './input/pending-input.ts';
import { MessageQueue, type QueueKind } from './input/queue.ts';
import { type ModelChoice, requireModel } from './model-choice.ts';
import type { NavigationParts } from './navigate.ts';
import { Activity } from './run/activity.ts';
import { conversationOf } from './run/conversation.ts';
import { type AutoFeatures, Recovery } from './run/recovery.ts';
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
  /** The current shell options. */
  readonly shell: () => ShellOptions;
  readonly promptParts: () => PromptParts;
  readonly settings: () => Settings;
  readonly choice: ModelChoice;
  readonly modes: DeliveryModes;
  readonly automatic: AutoFeatures;
}

/** A message as a command submits it. */
export interface Submission {
  readonly message: string;
  readonly images?: readonly ImageInput[] | undefined;
  readonly clientMessageId?: string | undefined;
  readonly limits?: Limits | undefined;
}

/** The response to a submission, and the run to start once the response is sent. */
export interface Acceptance {
  readonly accepted: Accepted;
  readonly begin?: () => void;
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
  readonly #injected: InjectedMessages;
  readonly #pendingInput: PendingInput;
  readonly #idleTasks: IdleTasks;
  #run: Run | undefined;

  constructor(parts: SessionParts) {
    const { events, modes } = parts;
    this.choice = parts.choice;
    this.modes = modes;
    this.automatic = parts.automatic;
    this.transcript = new Transcript(parts.log, (entry) => events.publish({ type: 'entry_appended', entry }));
    this.queue = new MessageQueue(this.transcript, (update) => events.publish(update));
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
    };
    this.compactor = new Compactor(this.#parts);
    this.shell = new ShellCommands(this.#parts);
    this.#idleTasks = new IdleTasks({ ...this.#parts, compactor: this.compactor });
  }

  get log(): SessionLog {
    return this.transcript.log;
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** Opens a run, or joins the active one as `streamingBehavior` requests. */
  async prompt(submission: Submission, options: InputOptions = {}): Promise<Acceptance> {
    const { message, images, clientMessageId } = submission;
    throwIfAborted(options);
    const duplicate = this.#duplicateOf(submission);
    if (duplicate) return duplicate;
    const raw = parseInput(message, images);
    const hooked = applyInputHooks(raw, options, this.#parts.hooks);
    // Without hooks nothing is awaited: the next state request sees the run.
    const input = hooked instanceof Promise ? await hooked : hooked;
    if (input === 'handled') return { accepted: { disposition: 'handled' } };
    throwIfAborted(options);
    if (!this.#run) return this.#open(input, submission);
    if (!options.streamingBehavior) throw new Refusal('agent_busy', BUSY);
    const queued = this.#enqueue(options.streamingBehavior, input, clientMessageId);
    this.#run.budget.addLimits(submission.limits);
    return queued;
  }

  /** Replaces the old part of the conversation by a summary, after aborting the run. The signal cancels it. */
  async compact(
    customInstructions: string | undefined,
    caller: AbortSignal = NEVER_ABORTED,
  ): Promise<CompactionResult> {
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
  inject(injected: InjectedMessage, { triggerTurn, deliverAs }: InjectionOptions = {}): Acceptance {
    if (this.#run || deliverAs === 'nextTurn') {
      this.#injected.add(deliverAs ?? (triggerTurn === false ? 'end' : 'steer'), injected);
      return { accepted: { disposition: 'queued', runId: this.#run?.id } };
    }
    if (triggerTurn) requireModel(this.choice);
    const message = this.#injected.store(injected);
    if (triggerTurn) return this.#begin([message], {});
    this.#parts.events.publish({ type: 'message_start', message });
    this.#parts.events.publish({ type: 'message_end', message });
    return { accepted: { disposition: 'handled' } };
  }

  /** Cancels only this kind of task. A run continues without the compaction that it started itself. */
  cancel(kind: IdleTask): void {
    this.#idleTasks.cancel(kind);
    if (kind === 'compaction') this.#run?.recovery.cancelCompaction();
  }

  /** Aborts the run or idle task; settles when everything has stopped. */
  async abort(options: { clearQueue?: boolean | undefined } = {}): Promise<void> {
    const stopped = this.#idleTasks.abort();
    this.#run?.abort();
    if (stopped !== undefined) await stopped;
    await this.#run?.settled;
    if (options.clearQueue) this.queue.clear();
  }

  /** Aborts the run for a message with priority. An invalid message, or a duplicate, aborts nothing. */
  abortFor({ message, images, clientMessageId }: Submission): Promise<void> {
    parseInput(message, images);
    requireModel(this.choice);
    return this.#findByClientId(clientMessageId) ? Promise.resolve() : this.abort();
  }

  /** Aborts the run and every shell command of clients; settles when this session is idle. */
  async stop(): Promise<void> {
    await Promise.all([this.abort(), this.shell.abort()]);
  }

  /** Settles when no run is active. */
  async idle(): Promise<void> {
    while (this.#run) await this.#run.settled;
  }

  /** Finds an earlier message with this client id: in the queue, in the run or in the file. */
  #findByClientId(clientMessageId: string | undefined) {
    if (clientMessageId === undefined) return undefined;
    const item = this.queue.findByClientId(clientMessageId);
    if (item) return { at: 'queue', item } as const;
    if (this.#run?.clientMessageIds.includes(clientMessageId)) return { at: 'run' } as const;
    const entry = this.transcript.findClientMessage(clientMessageId);
    return entry && ({ at: 'file', entry } as const);
  }

  /** The response to a duplicate message, which is never processed twice. */
  #duplicateOf({ clientMessageId, limits }: Submission): Acceptance | undefined {
    const found = this.#findByClientId(clientMessageId);
    if (!found) return undefined;
    const runId = this.#run?.id;
    if (found.at === 'queue') {
      return { accepted: { disposition: 'queued', queueId: found.item.id, runId, duplicate: true } };
    }
    if (found.at === 'run') return { accepted: { disposition: 'queued', runId, duplicate: true } };
    const neverRan = !this.#run && this.transcript.endsWith(found.entry.id);
    if (!neverRan) return { accepted: { disposition: 'handled', duplicate: true } };
    requireModel(this.choice);
    const { accepted, begin } = this.#begin([found.entry.message], { clientMessageId, limits });
    return { accepted: { ...accepted, duplicate: true }, begin };
  }

  #open(input: UserInput, { clientMessageId, limits }: Submission): Acceptance {
    requireModel(this.choice);
    const message = userMessage(input);
    this.transcript.add(message, { clientMessageId });
    return this.#begin([message, ...this.#injected.deliver('nextTurn')], { clientMessageId, limits });
  }

  #enqueue(kind: QueueKind, input: UserInput, clientMessageId: string | undefined): Acceptance {
    const { id } = this.queue.add(kind, input, clientMessageId);
    return { accepted: { disposition: 'queued', runId: this.#run?.id, queueId: id } };
  }

  #begin(messages: AgentMessage[], { clientMessageId, limits }: Pick<Submission, 'clientMessageId' | 'limits'>) {
    const run = new Run({
      ...this.#parts,
      opening: messages,
      recovery: (active) => this.#recovery(active),
      conversation: (active) =>
        conversationOf(active, {
          ...this.#parts,
          pendingInput: this.#pendingInput,
          promptFacts: (parts) => this.promptFacts(parts),
        }),
      hasPending: () => !this.#pendingInput.isEmpty,
      closingMessages: () => this.#injected.deliver('end'),
      takePending: (active) => this.#pendingInput.take(active),
    });
    run.addClientMessageId(clientMessageId);
    run.budget.addLimits(limits);
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

  promptFacts(parts: PromptParts = this.#parts.promptParts()): PromptFacts {
    return { cwd: this.log.header.cwd, tools: this.#parts.tools(), parts };
  }

  /** The system prompt after hooks. */
  async systemPrompt(): Promise<string> {
    return new RunSystemPrompt(this.#parts.hooks, NEVER_ABORTED).resolve(this.basePrompt());
  }
}

/** A message that waited during an abort must not start a run after it. */
function throwIfAborted({ signal }: InputOptions): void {
  if (signal?.aborted) throw new Refusal('agent_busy', 'Stopped by an abort before it began');
}

const BUSY = "Agent is already running. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
