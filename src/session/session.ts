import type { Conversation } from '../agent/loop.ts';
import type { Tool } from '../agent/tool.ts';
import type { ModelRegistry } from '../model/registry.ts';
import type { ModelRequest } from '../model/request.ts';
import { ask } from '../model/stream.ts';
import { Refusal } from '../protocol/errors.ts';
import type {
  Accepted,
  AgentMessage,
  AgentSettledEvent,
  ImageInput,
  InterruptMode,
  QueueMode,
} from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import { Activity } from './activity.ts';
import type { Input, SessionHooks } from './hooks.ts';
import { inputOf, userMessage } from './input.ts';
import { type Choice, requireModel } from './model-choice.ts';
import { modelMessages } from './model-messages.ts';
import { MessageQueue, type QueueKind } from './queue.ts';
import { type Audience, Run } from './run.ts';
import { systemPrompt } from './system-prompt.ts';
import { Transcript } from './transcript.ts';

/** How queued messages are delivered. */
export interface Modes {
  steering: QueueMode;
  followUp: QueueMode;
  interrupt: InterruptMode;
}

export interface SessionParts {
  readonly log: SessionLog;
  readonly audience: Audience;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly tools: readonly Tool[];
  readonly choice: Choice;
  readonly modes: Modes;
}

/** A message as a command brings it. */
export interface Submission {
  readonly message: string;
  readonly images?: readonly ImageInput[] | undefined;
  readonly clientMessageId?: string | undefined;
}

/** An answer to a submission, and the work that begins once the answer is out. */
export interface Acceptance {
  readonly accepted: Accepted;
  readonly begin?: () => void;
}

/** One conversation: idle, or in exactly one run. */
export class Session {
  readonly transcript: Transcript;
  readonly queue: MessageQueue;
  readonly activity = new Activity();
  readonly modes: Modes;
  tools: readonly Tool[];
  choice: Choice;
  lastRun: AgentSettledEvent | undefined;
  readonly #audience: Audience;
  readonly #registry: ModelRegistry;
  readonly #hooks: SessionHooks;
  #run: Run | undefined;

  constructor(parts: SessionParts) {
    this.#audience = parts.audience;
    this.#registry = parts.registry;
    this.#hooks = parts.hooks;
    this.choice = parts.choice;
    this.modes = parts.modes;
    this.tools = parts.tools;
    this.transcript = new Transcript(parts.log, (entry) => this.#audience.publish({ type: 'entry_appended', entry }));
    this.queue = new MessageQueue(this.transcript, (update) => this.#audience.publish(update));
  }

  get log(): SessionLog {
    return this.transcript.log;
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** Opens a run, or joins the active one the way the client says. */
  async prompt(submission: Submission, behaviour?: QueueKind): Promise<Acceptance> {
    return this.#submit(submission, (input) => {
      if (!this.#run) return this.#open(input, submission.clientMessageId);
      if (!behaviour) throw new Refusal('agent_busy', BUSY);
      return this.#enqueue(behaviour, input, submission.clientMessageId);
    });
  }

  /** Stops the run; settles when everything has stopped. */
  async abort(options: { clearQueue?: boolean | undefined } = {}): Promise<void> {
    this.#run?.abort();
    await this.#run?.settled;
    if (options.clearQueue) this.queue.clear();
  }

  /** Stops the run for a message that is to go before everything else. One that is refused, or was here before, stops nothing. */
  makeRoomFor({ message, images, clientMessageId }: Submission): Promise<void> {
    inputOf(message, images);
    requireModel(this.choice);
    return this.#isKnown(clientMessageId) ? Promise.resolve() : this.abort();
  }

  /** Settles when no run is active. */
  async idle(): Promise<void> {
    while (this.#run) await this.#run.settled;
  }

  async #submit(submission: Submission, accept: (input: Input) => Acceptance): Promise<Acceptance> {
    const repeated = this.#repeated(submission.clientMessageId);
    if (repeated) return repeated;
    const raw = inputOf(submission.message, submission.images);
    const input = this.#hooks.input ? await this.#hooks.input(raw) : raw;
    if (input === 'handled') return { accepted: { disposition: 'handled' } };
    const expanded = this.#hooks.expand ? await this.#hooks.expand(input ?? raw) : undefined;
    return accept(expanded ?? input ?? raw);
  }

  #isKnown(clientMessageId: string | undefined): boolean {
    if (clientMessageId === undefined) return false;
    return (
      this.queue.withClientId(clientMessageId) !== undefined ||
      this.#run?.clientMessageIds.includes(clientMessageId) === true ||
      this.transcript.findClientMessage(clientMessageId) !== undefined
    );
  }

  /** What to say to a message that was here before, if it was. It is never acted on twice. */
  #repeated(clientMessageId: string | undefined): Acceptance | undefined {
    if (clientMessageId === undefined) return undefined;
    const runId = this.#run?.id;
    const queued = this.queue.withClientId(clientMessageId);
    if (queued) return { accepted: { disposition: 'queued', queueId: queued.id, runId, duplicate: true } };
    if (this.#run?.clientMessageIds.includes(clientMessageId)) {
      return { accepted: { disposition: 'queued', runId, duplicate: true } };
    }
    const stored = this.transcript.findClientMessage(clientMessageId);
    if (!stored) return undefined;
    const neverBegan = !this.#run && this.transcript.endsWith(stored.id);
    if (!neverBegan) return { accepted: { disposition: 'handled', duplicate: true } };
    requireModel(this.choice);
    const { accepted, begin } = this.#begin([stored.message], clientMessageId);
    return { accepted: { ...accepted, duplicate: true }, begin };
  }

  #open(input: Input, clientMessageId: string | undefined): Acceptance {
    requireModel(this.choice);
    const message = userMessage(input);
    this.transcript.add(message, { clientMessageId });
    return this.#begin([message], clientMessageId);
  }

  #enqueue(kind: QueueKind, input: Input, clientMessageId: string | undefined): Acceptance {
    const { id } = this.queue.add(kind, input, clientMessageId);
    return { accepted: { disposition: 'queued', runId: this.#run?.id, queueId: id } };
  }

  #begin(messages: AgentMessage[], clientMessageId: string | undefined) {
    const run = new Run({
      transcript: this.transcript,
      audience: this.#audience,
      activity: this.activity,
      hooks: this.#hooks,
      conversation: (active) => this.#conversation(active),
      hasWaiting: () => this.queue.length > 0,
      takeWaiting: (active) => this.#takeWaiting(active),
    });
    run.serve(clientMessageId);
    this.#run = run;
    void run.settled.then((event) => {
      this.lastRun = event;
      this.#run = undefined;
    });
    return { accepted: { disposition: 'started', runId: run.id } as const, begin: () => void run.drive(messages) };
  }

  #takeWaiting(run: Run): AgentMessage[] | undefined {
    if (this.queue.has('steer')) return [];
    return this.queue.has('followUp') ? this.#take('followUp', run) : undefined;
  }

  #take(kind: QueueKind, run: Run): AgentMessage[] {
    const mode = kind === 'steer' ? this.modes.steering : this.modes.followUp;
    return this.queue.take(kind, mode).map(({ message, clientMessageId }) => {
      run.serve(clientMessageId);
      return message;
    });
  }

  #conversation(run: Run): Conversation {
    return {
      ask: async () => {
        const request = await this.#request(run.signal);
        const provider = await this.#registry.provider(request.model);
        this.activity.begin('provider');
        return ask(provider, request);
      },
      tools: () => this.tools,
      hasSteering: () => this.queue.has('steer'),
      takeSteering: () => this.#take('steer', run),
      hasFollowUps: () => this.queue.has('followUp'),
      takeFollowUps: () => this.#take('followUp', run),
      interruptsTools: () => this.modes.interrupt === 'immediate',
      mayContinue: () => true,
      hooks: this.#hooks,
      signal: run.signal,
    };
  }

  async #request(signal: AbortSignal): Promise<ModelRequest> {
    // On the device before the model is asked: what a client said survives a power cut.
    await this.transcript.sync();
    const prompt = systemPrompt({ cwd: this.log.header.cwd, tools: this.tools });
    const messages = modelMessages(this.transcript.messages);
    const request: ModelRequest = {
      model: requireModel(this.choice),
      thinkingLevel: this.choice.thinkingLevel,
      systemPrompt: (await this.#hooks.systemPrompt?.(prompt)) ?? prompt,
      messages: (await this.#hooks.context?.(messages)) ?? messages,
      tools: this.tools,
      signal,
    };
    return (await this.#hooks.beforeRequest?.(request)) ?? request;
  }
}

const BUSY = "Agent is already running. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
