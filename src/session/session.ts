import type { Conversation } from '../agent/loop.ts';
import type { Tool } from '../agent/tool.ts';
import type { ShellOptions } from '../agent/tools/shell.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import type { ModelRegistry } from '../model/registry.ts';
import type { Provider } from '../model/request.ts';
import { ask } from '../model/stream.ts';
import { Refusal } from '../protocol/errors.ts';
import type {
  Accepted,
  AgentMessage,
  AgentSettledEvent,
  CompactionResult,
  ImageInput,
  InterruptMode,
  Limits,
  Params,
  QueueMode,
  Result,
} from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';
import { Activity } from './activity.ts';
import { type Aside, type AsideManner, Asides } from './asides.ts';
import { Compactor, type CompactorParts } from './compaction/compactor.ts';
import type { Input, SessionHooks } from './hooks.ts';
import { inputOf, type Manner, NEVER, understood, userMessage } from './input.ts';
import type { MessagePages } from './message-page.ts';
import { type Choice, requireModel } from './model-choice.ts';
import { modelRequest } from './model-request.ts';
import { MessageQueue, type QueueKind } from './queue.ts';
import { type Automatic, Recovery } from './recovery.ts';
import { type Audience, Run } from './run.ts';
import { RunSystemPrompt } from './run-system-prompt.ts';
import { ShellCommands } from './shell-commands.ts';
import { type PromptFacts, type PromptParts, systemPrompt } from './system-prompt.ts';
import { Transcript } from './transcript.ts';
import { Waiting } from './waiting.ts';

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
  /** What the model is offered now. */
  readonly tools: () => readonly Tool[];
  /** How commands are run now. */
  readonly shell: () => ShellOptions;
  readonly promptParts: () => PromptParts;
  readonly settings: () => Settings;
  readonly choice: Choice;
  readonly modes: Modes;
  readonly automatic: Automatic;
}

/** What is done between runs. */
export type Chore = 'compaction' | 'navigation';

/** A message as a command brings it. */
export interface Submission {
  readonly message: string;
  readonly images?: readonly ImageInput[] | undefined;
  readonly clientMessageId?: string | undefined;
  readonly limits?: Limits | undefined;
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
  readonly automatic: Automatic;
  readonly shell: ShellCommands;
  readonly compactor: Compactor;
  choice: Choice;
  lastRun: AgentSettledEvent | undefined;
  /** There once somebody has asked for a page. */
  pages: MessagePages | undefined;
  readonly #audience: Audience;
  readonly #registry: ModelRegistry;
  readonly #hooks: SessionHooks;
  readonly #tools: () => readonly Tool[];
  readonly #promptParts: () => PromptParts;
  readonly #settings: () => Settings;
  readonly #asides: Asides;
  readonly #waiting: Waiting;
  readonly #upkeep: CompactorParts;
  #run: Run | undefined;
  /** A compaction or a navigation that somebody asked for. */
  #chore: { readonly kind: Chore; readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;

  constructor(parts: SessionParts) {
    this.#audience = parts.audience;
    this.#registry = parts.registry;
    this.#hooks = parts.hooks;
    this.choice = parts.choice;
    this.modes = parts.modes;
    this.automatic = parts.automatic;
    this.#settings = parts.settings;
    this.#tools = parts.tools;
    this.#promptParts = parts.promptParts;
    this.transcript = new Transcript(parts.log, (entry) => this.#audience.publish({ type: 'entry_appended', entry }));
    this.queue = new MessageQueue(this.transcript, (update) => this.#audience.publish(update));
    this.#asides = new Asides(this.transcript);
    this.#waiting = new Waiting({
      queue: this.queue,
      asides: this.#asides,
      modeOf: (kind) => (kind === 'steer' ? this.modes.steering : this.modes.followUp),
    });
    const { shell, hooks, audience, registry, settings } = parts;
    this.#upkeep = {
      transcript: this.transcript,
      registry,
      audience,
      activity: this.activity,
      hooks,
      choice: () => this.choice,
      settings,
      automatic: this.automatic,
    };
    this.compactor = new Compactor(this.#upkeep);
    this.shell = new ShellCommands({
      transcript: this.transcript,
      hooks,
      shell,
      isRunning: () => this.#run !== undefined,
    });
  }

  get log(): SessionLog {
    return this.transcript.log;
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** Opens a run, or joins the active one the way the client says. */
  async prompt(submission: Submission, how: Manner = {}): Promise<Acceptance> {
    const { message, images, clientMessageId } = submission;
    checkWanted(how);
    const repeated = this.#repeated(submission);
    if (repeated) return repeated;
    const raw = inputOf(message, images);
    const seen = understood(raw, how, this.#hooks);
    // Without hooks nothing is awaited: whoever asks for the state next sees the run.
    const input = seen instanceof Promise ? await seen : seen;
    if (input === 'handled') return { accepted: { disposition: 'handled' } };
    checkWanted(how);
    if (!this.#run) return this.#open(input, submission);
    if (!how.streamingBehavior) throw new Refusal('agent_busy', BUSY);
    const queued = this.#enqueue(how.streamingBehavior, input, clientMessageId);
    this.#run.budget.limit(submission.limits);
    return queued;
  }

  /** Puts a summary in the place of what was said long ago. A run is stopped first. The signal calls it off. */
  async compact(customInstructions: string | undefined, called: AbortSignal = NEVER): Promise<CompactionResult> {
    await this.abort();
    return this.#between('compaction', called, (signal) =>
      this.compactor.compact({ reason: 'manual', customInstructions, signal }),
    );
  }

  /** Lets the conversation go on from another entry of the tree. The signal, or an abort, calls it off. */
  async navigate(
    targetId: string,
    wish: Omit<Params<'navigate_tree'>, 'targetId'> = {},
    called: AbortSignal = NEVER,
  ): Promise<Result<'navigate_tree'>> {
    if (this.#run || this.#chore) throw new Refusal('agent_busy', BUSY_ELSEWHERE);
    return this.#between('navigation', called, async (signal) => {
      const { navigate } = await import('./navigate.ts');
      const isRunning = () => this.#run !== undefined;
      return navigate({ ...this.#upkeep, isRunning }, { ...wish, targetId }, signal);
    });
  }

  /** Says something beside the user: at once, in the run that is active, or with the next one. */
  say(aside: Aside, { triggerTurn, deliverAs }: AsideManner = {}): Acceptance {
    if (this.#run || deliverAs === 'nextTurn') {
      this.#asides.add(deliverAs ?? (triggerTurn === false ? 'end' : 'steer'), aside);
      return { accepted: { disposition: 'queued', runId: this.#run?.id } };
    }
    if (triggerTurn) requireModel(this.choice);
    const message = this.#asides.say(aside);
    if (triggerTurn) return this.#begin([message], {});
    this.#audience.publish({ type: 'message_start', message });
    this.#audience.publish({ type: 'message_end', message });
    return { accepted: { disposition: 'handled' } };
  }

  /** Does something between runs that an abort stops. */
  async #between<T>(kind: Chore, called: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const doing = work(AbortSignal.any([called, stop.signal]));
    this.#chore = { kind, stop, ended: doing.catch(() => {}) };
    try {
      return await doing;
    } finally {
      this.#chore = undefined;
    }
  }

  /** Stops only this, whoever asked for it. A run that compacts by itself goes on as well as it can. */
  callOff(kind: Chore): void {
    if (this.#chore?.kind === kind) this.#chore.stop.abort();
    if (kind === 'compaction') this.#run?.recovery.cancelCompaction();
  }

  /** Stops the run, or what is done between runs; settles when everything has stopped. */
  async abort(options: { clearQueue?: boolean | undefined } = {}): Promise<void> {
    this.#chore?.stop.abort();
    this.#run?.abort();
    if (this.#chore) await this.#chore.ended;
    await this.#run?.settled;
    if (options.clearQueue) this.queue.clear();
  }

  /** Stops the run for a message that is to go before everything else. One that is refused, or was here before, stops nothing. */
  makeRoomFor({ message, images, clientMessageId }: Submission): Promise<void> {
    inputOf(message, images);
    requireModel(this.choice);
    return this.#whereabouts(clientMessageId) ? Promise.resolve() : this.abort();
  }

  /** Stops the run and every command that a client runs beside it; settles when nothing of this session works. */
  async stop(): Promise<void> {
    await Promise.all([this.abort(), this.shell.abort()]);
  }

  /** Settles when no run is active. */
  async idle(): Promise<void> {
    while (this.#run) await this.#run.settled;
  }

  /** Where a message with this client id has got to, if it was here before. */
  #whereabouts(clientMessageId: string | undefined) {
    if (clientMessageId === undefined) return undefined;
    const item = this.queue.withClientId(clientMessageId);
    if (item) return { at: 'queue', item } as const;
    if (this.#run?.clientMessageIds.includes(clientMessageId)) return { at: 'run' } as const;
    const entry = this.transcript.findClientMessage(clientMessageId);
    return entry && ({ at: 'file', entry } as const);
  }

  /** What to say to a message that was here before, if it was. It is never acted on twice. */
  #repeated({ clientMessageId, limits }: Submission): Acceptance | undefined {
    const known = this.#whereabouts(clientMessageId);
    if (!known) return undefined;
    const runId = this.#run?.id;
    if (known.at === 'queue') {
      return { accepted: { disposition: 'queued', queueId: known.item.id, runId, duplicate: true } };
    }
    if (known.at === 'run') return { accepted: { disposition: 'queued', runId, duplicate: true } };
    const neverBegan = !this.#run && this.transcript.endsWith(known.entry.id);
    if (!neverBegan) return { accepted: { disposition: 'handled', duplicate: true } };
    requireModel(this.choice);
    const { accepted, begin } = this.#begin([known.entry.message], { clientMessageId, limits });
    return { accepted: { ...accepted, duplicate: true }, begin };
  }

  #open(input: Input, { clientMessageId, limits }: Submission): Acceptance {
    requireModel(this.choice);
    const message = userMessage(input);
    this.transcript.add(message, { clientMessageId });
    return this.#begin([message, ...this.#asides.deliver('nextTurn')], { clientMessageId, limits });
  }

  #enqueue(kind: QueueKind, input: Input, clientMessageId: string | undefined): Acceptance {
    const { id } = this.queue.add(kind, input, clientMessageId);
    return { accepted: { disposition: 'queued', runId: this.#run?.id, queueId: id } };
  }

  #begin(messages: AgentMessage[], { clientMessageId, limits }: Pick<Submission, 'clientMessageId' | 'limits'>) {
    const run = new Run({
      opening: messages,
      transcript: this.transcript,
      audience: this.#audience,
      activity: this.activity,
      hooks: this.#hooks,
      recovery: (active) => this.#recovery(active),
      conversation: (active) => this.#conversation(active),
      hasWaiting: () => !this.#waiting.isEmpty,
      lastWords: () => this.#asides.deliver('end'),
      takeWaiting: (active) => this.#waiting.take(active),
    });
    run.serve(clientMessageId);
    run.budget.limit(limits);
    this.#run = run;
    void run.settled.then((event) => {
      this.lastRun = event;
      this.#run = undefined;
      this.queue.release();
      this.shell.settle();
    });
    return { accepted: { disposition: 'started', runId: run.id } as const, begin: () => void run.drive() };
  }

  #recovery(run: Run): Recovery {
    return new Recovery({
      ...this.#upkeep,
      compactor: this.compactor,
      settings: this.#settings(),
      signal: run.signal,
      budget: run.budget,
    });
  }

  #conversation(run: Run): Conversation {
    const prompt = new RunSystemPrompt(this.#hooks, run.signal);
    // Files are looked at once: a prompt that changes within a run costs the provider's cache.
    let parts: PromptParts | undefined;
    const base = () => {
      parts ??= this.#promptParts();
      return systemPrompt(this.promptFacts(parts));
    };
    let turns = 0;
    let offered = this.#tools();
    return {
      prepare:
        this.#hooks.beforeAgentStart &&
        (async () => {
          const messages = await prompt.consult(base(), run.opening);
          return messages.map((message) => this.transcript.add(message));
        }),
      ask: async () => {
        // A model and hooks that answer at once must not keep everything else from its turn.
        if (turns++ > 0) await new Promise((resolve) => setImmediate(resolve));
        offered = requireModel(this.choice).supportsTools === false ? [] : this.#tools();
        const systemPrompt = await prompt.text(base());
        const request = await modelRequest(this.#upkeep, { systemPrompt, tools: offered, signal: run.signal });
        this.activity.begin('provider');
        const provider = await unlessAborted(this.#registry.provider(request.model, run.signal), run.signal);
        return ask(provider ?? silent, request, (failure) => run.recovery.note(failure));
      },
      // What it was offered when it was asked, though that may have changed since.
      tools: () => offered,
      claimCall: () => run.claimCall(),
      add: (message) => this.transcript.add(message),
      dropAnswer: () => this.transcript.dropAnswer(),
      hasSteering: () => this.#waiting.has('steer'),
      takeSteering: () => this.#waiting.claim('steer', run)(),
      rest: (owed) => (owed || !this.#waiting.isEmpty ? run.recovery.makeRoom() : undefined),
      next: (owed) => {
        const isWanted = owed || !this.#waiting.isEmpty;
        if (!isWanted || !run.claimCall()) return undefined;
        if (this.#waiting.has('steer')) return this.#waiting.claim('steer', run);
        return owed ? () => [] : this.#waiting.claim('followUp', run);
      },
      interruptsTools: () => this.modes.interrupt === 'immediate',
      hooks: this.#hooks,
      signal: run.signal,
    };
  }

  /** What the model would be told before hooks had their say. */
  basePrompt(): string {
    return systemPrompt(this.promptFacts());
  }

  /** What that is made of. */
  promptFacts(parts: PromptParts = this.#promptParts()): PromptFacts {
    return { cwd: this.log.header.cwd, tools: this.#tools(), parts };
  }

  /** What the model would be told before the conversation. */
  async systemPrompt(): Promise<string> {
    return new RunSystemPrompt(this.#hooks, NEVER).text(this.basePrompt());
  }
}

/** A message that still waited when an abort came must not begin a run after it. */
function checkWanted({ signal }: Manner): void {
  if (signal?.aborted) throw new Refusal('agent_busy', 'Stopped by an abort before it began');
}

/** Nobody is left to ask. */
const silent: Provider = async function* () {};

const BUSY_ELSEWHERE = 'The agent is busy: wait for it, or stop it, before going to another entry';

const BUSY = "Agent is already running. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
