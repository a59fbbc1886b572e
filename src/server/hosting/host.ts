import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Frame, HostTool, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { ProcessExit } from '../../system/processes/process-group.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Subscriber, CommandRequest, SessionTarget, AttachOptions } from '../sessions.ts';
import { AgentResponse } from '../agent-response.ts';
import { Subscribers } from './subscribers.ts';
import { SnapshotSender } from './snapshot-sender.ts';
import { CrashCounter } from './crash-counter.ts';
import { DialogTimeouts, agentUiMethods } from './dialog-timeouts.ts';
import { EntryRouter } from './entry-router.ts';
import { Heartbeats } from './heartbeats.ts';
import type { HostOptions } from './host-options.ts';
import { HostedAgent } from './hosted-agent.ts';
import { RunTracker } from './run-tracker.ts';
import { EventPublisher } from './event-publisher.ts';
import { PublishedMessages } from './published-messages.ts';
import { HostToolRouter } from './host-tool-router.ts';

/** Requests that may wait for an agent that is being started. */
const MAX_EARLY_REQUESTS = 200;

/** How soon it is looked again whether an agent has something to do. */
const MIN_PARK_DELAY_MS = 100;

const TERMINATED = 'Pi process terminated';

/**
 * One session that lives: an agent of its own, and everybody who hears it. The agent outlives the clients; when it dies
 * it is started again, and what it was at is ended.
 */
export class Host {
  readonly #options: HostOptions;
  readonly #subscribers: Subscribers;
  readonly #runs: RunTracker;
  readonly #tools = new HostToolRouter((subscriber) => this.#subscribers.attached.has(subscriber));
  readonly #dialogTimeouts: DialogTimeouts;
  readonly #publisher: EventPublisher;
  readonly #entryRouter = new EntryRouter();
  readonly #published = new PublishedMessages();
  readonly #snapshots: SnapshotSender;
  /** The one that runs, or is being started. */
  #latestAgent: HostedAgent | undefined;
  /** The one that can be asked. */
  #agent: HostedAgent | undefined;
  #state: SessionState | undefined;
  /** What the agent was told of its clients last. */
  #sentPreferences = '';
  #started: Promise<void> | undefined;
  #awaitingAgent: (() => void)[] = [];
  readonly #crashes = new CrashCounter();
  #closing: Promise<void> | undefined;
  #parkTimer: NodeJS.Timeout | undefined;
  #clientCount = 0;
  /** How long the agent waits for somebody to come. */
  #parkDelayMs: number;

  constructor(options: HostOptions) {
    const { journal, runJournal } = options;
    this.#options = options;
    this.#parkDelayMs = options.parkAfterMs;
    this.#subscribers = new Subscribers(journal, options.callbacks.onError);
    this.#snapshots = new SnapshotSender({
      subscribers: this.#subscribers,
      published: this.#published,
      location: () => ({ sessionId: this.sessionId, sessionFile: this.sessionFile }),
      runEndsAfter: (cursor) => this.#runs.endsAfter(cursor),
      whenReady: (work) => this.#whenReady(work),
    });
    this.#runs = new RunTracker(runJournal, () => journal.epoch);
    this.#dialogTimeouts = new DialogTimeouts((id) => {
      this.#agent?.sendFrame({ type: 'extension_ui_response', id, cancelled: true });
      this.#publisher.resolveDialog(id, 'timeout');
    });
    this.#publisher = new EventPublisher({
      journal,
      subscribers: this.#subscribers,
      snapshots: this.#snapshots,
      runs: this.#runs,
      published: this.#published,
      tools: this.#tools,
      dialogTimeouts: this.#dialogTimeouts,
      entryRouter: this.#entryRouter,
      agent: () => this.#agent,
      onSessionChange: (state) => this.#handleSessionChange(state),
      schedulePark: () => this.#schedulePark(),
      onJournalError: (error) => void this.#fail(messageOf(error)),
      onError: options.callbacks.onError,
    });
  }

  get sessionId(): string {
    return this.#state?.sessionId ?? this.#options.target.id;
  }

  get sessionFile(): string | undefined {
    const { target } = this.#options;
    return this.#state ? this.#state.sessionFile : target.kind === 'stored' ? target.path : undefined;
  }

  /** Whether there ever was an agent in the session. */
  get hasStarted(): boolean {
    return this.#state !== undefined;
  }

  get cwd(): string {
    return this.#state?.cwd ?? this.#options.target.cwd;
  }

  get pid(): number | undefined {
    return this.#agent?.pid;
  }

  /** How many are here, or are about to be. */
  get clientCount(): number {
    return this.#clientCount;
  }

  get status(): 'running' | 'waiting' | 'idle' {
    if (this.#subscribers.liveState.dialogs.size > 0) return 'waiting';
    return this.#runs.isActive || this.#subscribers.liveState.isWorking ? 'running' : 'idle';
  }

  /** There when it is over, or will be soon. */
  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  /** Starts the agent, once. Fails with the reason why it cannot be. */
  start(): Promise<void> {
    this.#started ??= this.#startAgent(this.#options.target).catch(async (error: unknown) => {
      await this.#shutDown();
      throw error;
    });
    return this.#started;
  }

  /** Lets a client hear the session from now on. */
  async attach(subscriber: Subscriber, options: AttachOptions): Promise<void> {
    await this.start();
    clearTimeout(this.#parkTimer);
    const reason = await this.#snapshots.attach(subscriber, options);
    this.updatePreferences();
    if (reason === 'snapshot' && subscriber.receivesEntries) this.followEntries(subscriber);
  }

  /** Somebody is about to attach: the agent is needed. */
  reserve(): void {
    this.#clientCount++;
  }

  /** `isSessionSwitch`: the client has gone to another session. Where it was alone and nothing is to be done, the agent leaves. */
  async detach(subscriber: Subscriber, { isSessionSwitch = false } = {}): Promise<void> {
    this.#clientCount--;
    this.#parkDelayMs = isSessionSwitch ? 0 : this.#options.parkAfterMs;
    this.#subscribers.remove(subscriber);
    this.#tools.detach(subscriber, (failure) => this.#agent?.sendFrame(failure));
    if (isSessionSwitch && this.#isUnattachedAndIdle) await this.#park();
    this.updatePreferences();
    this.#schedulePark();
  }

  /** Asks the agent, in the name of a client or of nobody. */
  send(request: CommandRequest, subscriber: Subscriber | undefined, onResponse: (response: AgentResponse) => void): void {
    const reject = (refusal: Refusal) => onResponse(AgentResponse.refusal(request.type, refusal));
    const agent = this.#agent;
    if (this.#isClosing) reject(new Refusal('internal', TERMINATED));
    else if (!agent) {
      if (this.#awaitingAgent.length < MAX_EARLY_REQUESTS) this.#awaitingAgent.push(() => this.send(request, subscriber, onResponse));
      else reject(new Refusal('overloaded', 'The agent is being started, and too much waits for it'));
    } else if (agent.isOverloaded) reject(new Refusal('overloaded', 'Too many commands wait for the agent'));
    else if (request.type === 'set_host_tools' && subscriber)
      this.#tools.register(request, subscriber, { sendToAgent: (tools, done) => this.#registerHostTools(tools, done), onResponse });
    else {
      const handleResponse = (response: AgentResponse) => {
        const { disposition, duplicate } = this.#runs.handleResponse(request, response);
        if (duplicate && disposition === 'started') this.#publisher.expectRepeat();
        onResponse(response);
        if (request.type === 'bash' && response.success) this.#publisher.handleBashEnd();
        else if (request.type === 'bash') this.#publisher.refreshRunningBash();
        this.#schedulePark();
      };
      agent.request(request, { requester: subscriber, onResponse: handleResponse });
      if (request.type === 'bash') this.#publisher.refreshRunningBash();
    }
  }

  #registerHostTools(tools: readonly HostTool[], onResponse: (response: AgentResponse) => void): void {
    this.send({ type: 'set_host_tools', tools }, undefined, onResponse);
  }

  /** Hands over what a client says of a dialog or of a tool of its own. */
  sendFrame(frame: Frame, subscriber: Subscriber): void {
    const { id, type } = frame;
    if (type === 'extension_ui_response') {
      if (!this.#subscribers.liveState.dialogs.has(id)) return;
      this.#agent?.sendFrame(frame);
      this.#publisher.resolveDialog(id, 'client');
    } else if (this.#tools.ownsCall(subscriber, id, { isLast: type === 'host_tool_result' })) this.#agent?.sendFrame(frame);
  }

  /** The agent does not understand it either: it is told what it was meant to be, or what has become of the call. */
  sendMalformedFrame(frame: MalformedFrame, subscriber: Subscriber): void {
    const { name: type, id } = frame;
    const failure = type === 'host_tool_result' ? this.#tools.failMalformed(subscriber, frame) : undefined;
    if (failure) this.#agent?.sendFrame(failure);
    else this.sendFrame({ type, id } as Frame, subscriber);
  }

  /** A client has come, gone, or wants something else: tells the agent if that makes a difference. */
  updatePreferences(): void {
    const { attached, liveState } = this.#subscribers;
    this.#dialogTimeouts.update(liveState.dialogs, attached);
    const preferences = this.#preferences();
    if (JSON.stringify(preferences) === this.#sentPreferences || !this.#agent) return;
    this.#sentPreferences = JSON.stringify(preferences);
    this.#agent.request({ type: 'hello', ...preferences }, { onResponse: () => {} });
    // The agent ends what nobody wants to see, and has nobody to tell.
    if (preferences.ui.length === 0) for (const id of liveState.dialogs.keys()) this.#publisher.resolveDialog(id, 'nobody');
  }

  /** Tells a client every entry there is, and from then on every new one. */
  followEntries(subscriber: Subscriber): void {
    const onResponse = () => {};
    this.#agent?.sendBatch([
      [
        { type: 'hello', entries: false },
        { onResponse, onArrival: () => this.#entryRouter.startReplay(subscriber) },
      ],
      [
        { type: 'hello', entries: true },
        { onResponse: () => this.#subscribers.startEntries(), onArrival: () => this.#entryRouter.endReplay() },
      ],
    ]);
  }

  /** Lets the agent store everything and leave. */
  close(): Promise<void> {
    return this.#shutDown();
  }

  #preferences() {
    const { attached } = this.#subscribers;
    return { ui: agentUiMethods(attached), heartbeatMs: Heartbeats.intervalFor(attached) };
  }

  async #startAgent(target: SessionTarget): Promise<void> {
    const agent = new HostedAgent(this.#options.agent, target, {
      enqueueResponse: (deliver) => this.#publisher.enqueue(deliver),
      onEvent: (event, text) => this.#publisher.handleEvent(event, text),
      onError: (error) => this.#options.callbacks.onError(error),
      onExit: (exit) => void this.#handleExit(agent, exit),
    });
    this.#latestAgent = agent;
    const preferences = this.#preferences();
    this.#sentPreferences = JSON.stringify(preferences);
    const state = await agent.start({ legacyNames: false, ...preferences });
    if (!this.hasStarted && isDifferentSession(state, target))
      throw new Refusal('session_not_found', `Session not found: ${target.id}`);
    this.#state = state;
    this.#agent = agent;
    this.#runs.enterSession(state.sessionId);
    this.#published.markUpTo(state.messageCount);
    this.updatePreferences();
    this.#schedulePark();
    for (const retry of this.#awaitingAgent.splice(0)) retry();
  }

  /** The agent is in another session. */
  #handleSessionChange(state: SessionState): void {
    this.#state = state;
    this.#options.callbacks.onSessionChange(state.sessionId);
  }

  /** Calls back as soon as there is an agent that can be asked; with none when there will be none. */
  #whenReady(work: (agent: HostedAgent | undefined) => void): void {
    if (this.#agent || this.#isClosing) work(this.#agent);
    else this.#awaitingAgent.push(() => this.#whenReady(work));
  }

  /** The agent has ended without being asked to. */
  async #handleExit(agent: HostedAgent, { code, signal }: ProcessExit): Promise<void> {
    if (this.#agent !== agent || this.#isClosing) return;
    this.#agent = undefined;
    const reason = `${TERMINATED} (${signal ?? `exit code ${code}`})`;
    this.#options.callbacks.onCrash(reason);
    await this.#publisher.endInterrupted(reason);
    if (this.#isClosing) return;
    // One that left in good order wanted to.
    if (code === 0) return this.#fail(TERMINATED);
    await this.#restart();
  }

  async #restart(): Promise<void> {
    if (this.#crashes.add()) return this.#fail(TERMINATED);
    try {
      await this.#startAgent(this.#currentTarget);
      this.#restoreClients();
    } catch {
      if (!this.#isClosing) await this.#restart();
    }
  }

  get #currentTarget(): SessionTarget {
    const { sessionId: id, sessionFile: path, cwd } = this;
    return path === undefined ? { kind: 'new', id, cwd } : { kind: 'stored', path, id, cwd };
  }

  /** A new agent goes on with the session: it knows nothing of the clients. */
  #restoreClients(): void {
    this.#entryRouter.reset();
    this.#subscribers.stopEntries();
    const tools = this.#tools.allTools;
    if (tools.length > 0) this.#agent?.request({ type: 'set_host_tools', tools }, { onResponse: () => {} });
    for (const subscriber of this.#subscribers.attached) if (subscriber.receivesEntries) this.followEntries(subscriber);
    this.#snapshots.resend();
  }

  async #fail(reason: string): Promise<void> {
    for (const subscriber of [...this.#subscribers.attached]) subscriber.onAgentLost(reason);
    await this.#shutDown();
  }

  /** Parks the agent when it has had nothing to do for a while. */
  #schedulePark(): void {
    clearTimeout(this.#parkTimer);
    if (this.#isClosing || this.#clientCount > 0) return;
    const park = () => (this.#isUnattachedAndIdle ? void this.#park() : this.#schedulePark());
    this.#parkTimer = setTimeout(park, Math.max(this.#parkDelayMs, MIN_PARK_DELAY_MS)).unref();
  }

  /** Whoever comes later has missed too much to be told the ends of runs. */
  #park(): Promise<void> {
    this.#runs.forget();
    return this.#shutDown();
  }

  get #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  get #isUnattachedAndIdle(): boolean {
    const isBusy = this.status !== 'idle' || this.#subscribers.liveState.isCompacting || this.#agent?.hasClientRequests;
    return this.#clientCount === 0 && !isBusy;
  }

  #shutDown(): Promise<void> {
    this.#closing ??= (async () => {
      clearTimeout(this.#parkTimer);
      this.#dialogTimeouts.close();
      await this.#latestAgent?.end();
      this.#agent = undefined;
      this.#options.callbacks.onClose();
    })();
    // They learn that there is nobody to ask.
    for (const retry of this.#awaitingAgent.splice(0)) retry();
    return this.#closing;
  }
}

/** An agent begins another session where the file is gone. One that is no tau may not say in which it is. */
const isDifferentSession = ({ sessionId }: Partial<SessionState>, target: SessionTarget) =>
  target.kind === 'stored' && sessionId !== undefined && sessionId !== target.id;
