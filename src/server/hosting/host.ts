import { messageOf, Refusal } from '../../protocol/errors.ts';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { SessionState } from '../../protocol/generated/vocabulary.ts';
import { AgentResponse } from '../agent-response.ts';
import type { Access, AttachOptions, CommandRequest, SessionTarget, Subscriber } from '../sessions.ts';
import type { AgentLaunch } from './agent/agent-process.ts';
import { CurrentAgent, TERMINATED } from './agent/current-agent.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
import { ClientFrames } from './client-frames.ts';
import { ClientPreferences } from './client-preferences.ts';
import { DialogTimeouts } from './dialog-timeouts.ts';
import { EntryRouter } from './entry-router.ts';
import { EventPublisher } from './event-publisher.ts';
import type { HostOptions } from './host-options.ts';
import { HostToolRouter } from './host-tool-router.ts';
import { PublishedMessages } from './published-messages.ts';
import { RunTracker } from './run-tracker.ts';
import { SnapshotSender } from './snapshot-sender.ts';
import { Subscribers } from './subscribers.ts';

// Requests that may wait for the agent to start.
const MAX_EARLY_REQUESTS = 200;

// The shortest delay before the host checks again whether it is idle.
const MIN_PARK_DELAY_MS = 100;

/** Owns one live agent and its subscribers. The agent outlives its clients; after a crash the host ends its run. */
export class Host {
  readonly #options: HostOptions;
  readonly #subscribers: Subscribers;
  readonly #runs: RunTracker;
  readonly #tools = new HostToolRouter((subscriber) => this.#subscribers.attached.has(subscriber));
  readonly #dialogTimeouts: DialogTimeouts;
  readonly #publisher: EventPublisher;
  readonly frames: ClientFrames;
  readonly #entryRouter = new EntryRouter();
  readonly #published = new PublishedMessages();
  readonly #snapshots: SnapshotSender;
  readonly #currentAgent: CurrentAgent;
  #state: SessionState | undefined;
  readonly #preferences = new ClientPreferences();
  #started: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #parkTimer: NodeJS.Timeout | undefined;
  #clientCount = 0;
  /** How long an idle agent without clients is kept. */
  #parkDelayMs: number;

  constructor(options: HostOptions) {
    const { session } = options;
    const { journal } = session;
    this.#options = options;
    this.#parkDelayMs = options.parkAfterMs;
    this.#subscribers = new Subscribers(journal, options.callbacks.onError, () => this.#runs.activeRunId);
    this.#snapshots = new SnapshotSender({
      subscribers: this.#subscribers,
      published: this.#published,
      location: () => ({ sessionId: this.sessionId, sessionFile: this.sessionFile }),
      runEndsAfter: (cursor) => this.#runs.endsAfter(cursor),
      whenReady: (work) => this.#currentAgent.whenReady(work),
    });
    this.#runs = new RunTracker(session.runs, () => journal.epoch);
    this.#dialogTimeouts = new DialogTimeouts((id) => {
      this.#agent?.sendFrame({ type: 'extension_ui_response', id, cancelled: true, timedOut: true });
      this.#publisher.resolveDialog(id, 'timeout');
    });
    this.#publisher = new EventPublisher({
      journal,
      subscribers: this.#subscribers,
      snapshots: this.#snapshots,
      runs: this.#runs,
      pendingRuns: session.pendingRuns,
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
    this.#currentAgent = new CurrentAgent({
      launch: (access) => withArgs(options.agent, session.agentArgs(access)),
      access: options.access,
      target: () => this.#currentTarget,
      hello: (access) => ({ ...this.#preferences.forNewAgent(this.#subscribers.attached), ...session.hello(access) }),
      enqueueResponse: (deliver) => this.#publisher.enqueue(deliver),
      onEvent: (event, text) => this.#publisher.handleEvent(event, text),
      onError: options.callbacks.onError,
      onActivity: options.callbacks.onActivity,
      onStarted: (state) => this.#handleStart(state),
      onReplaced: () => this.#publisher.enqueue(() => this.#restoreClients()),
      onCrash: (reason) => this.#handleCrash(reason),
      onLost: (reason) => this.#fail(reason),
    });
    this.frames = new ClientFrames({
      tools: this.#tools,
      publisher: this.#publisher,
      liveState: this.#subscribers.liveState,
      agent: () => this.#agent,
    });
    session.connect((frame) => this.#agent?.sendFrame(frame));
    session.lost.addEventListener('abort', () => void this.#endOwnership(), { once: true });
  }

  get sessionId(): string {
    return this.#state?.sessionId ?? this.#target.id;
  }

  get sessionFile(): string | undefined {
    return this.#state ? this.#state.sessionFile : this.#target.kind === 'stored' ? this.#target.path : undefined;
  }

  get hasStarted(): boolean {
    return this.#state !== undefined;
  }

  get cwd(): string {
    return this.#state?.cwd ?? this.#target.cwd;
  }

  get pid(): number | undefined {
    return this.#agent?.pid;
  }

  /** Clients that are attached or about to attach. */
  get clientCount(): number {
    return this.#clientCount;
  }

  get status(): 'running' | 'waiting' | 'idle' {
    if (this.#subscribers.liveState.dialogs.size > 0) return 'waiting';
    const isRunning = this.#runs.isActive || this.#publisher.isSettling || this.#subscribers.liveState.isWorking;
    return isRunning ? 'running' : 'idle';
  }

  /** Set once the host is closing; settles when it is closed. */
  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  get #target(): SessionTarget {
    return this.#options.session.target;
  }

  get #agent(): HostedAgent | undefined {
    return this.#currentAgent.agent;
  }

  start(): Promise<void> {
    this.#started ??= this.#currentAgent.start().catch(async (error: unknown) => {
      await this.close();
      throw error;
    });
    return this.#started;
  }

  /** Settles when the agent can serve a client with this access; rejects if no such agent starts. Not parked meanwhile. */
  async provide(access: Access): Promise<void> {
    await this.start();
    this.#clientCount++;
    clearTimeout(this.#parkTimer);
    try {
      await this.#currentAgent.provide(access);
    } finally {
      this.#clientCount--;
      this.#schedulePark();
    }
  }

  /** Attaches a client: it gets all further events. */
  async attach(subscriber: Subscriber, options: AttachOptions): Promise<void> {
    await this.start();
    clearTimeout(this.#parkTimer);
    await this.#preferences.enableFor(subscriber, this.#agent);
    const reason = await this.#snapshots.attach(subscriber, options);
    // The other clients have been closed meanwhile.
    if (this.#isClosing) subscriber.onSessionMoved();
    this.updatePreferences();
    if (reason === 'snapshot' && subscriber.receivesEntries) this.followEntries(subscriber);
  }

  /** Counts a client that is about to attach, so that the agent is not parked. */
  reserve(): void {
    this.#clientCount++;
  }

  /** On a session switch an idle agent without other clients is parked at once. */
  async detach(subscriber: Subscriber, { isSessionSwitch = false } = {}): Promise<void> {
    this.#clientCount--;
    this.#parkDelayMs = isSessionSwitch ? 0 : this.#options.parkAfterMs;
    this.#subscribers.remove(subscriber);
    this.#agent?.cancelReads(subscriber);
    this.#tools.detach(subscriber, (failure) => this.#agent?.sendFrame(failure));
    if (isSessionSwitch && this.#isUnattachedAndIdle) await this.#park();
    this.updatePreferences();
    this.#schedulePark();
  }

  /** Sends a request to the agent for a client, or for the server itself. */
  send(
    request: CommandRequest,
    subscriber: Subscriber | undefined,
    onResponse: (response: AgentResponse) => void,
  ): void {
    const reject = (refusal: Refusal) => onResponse(AgentResponse.refusal(request.type, refusal));
    const agent = this.#agent;
    if (this.#isClosing) reject(new Refusal('internal', TERMINATED));
    else if (!agent) {
      if (this.#currentAgent.waitingCount < MAX_EARLY_REQUESTS)
        this.#currentAgent.whenReady(() => this.send(request, subscriber, onResponse));
      else reject(new Refusal('overloaded', 'The agent is being started, and too much waits for it'));
    } else if (agent.isOverloaded && commandRows[request.type].lane !== 'control')
      reject(new Refusal('overloaded', 'Too many commands wait for the agent'));
    else if (request.type === 'set_host_tools' && subscriber)
      this.#tools.register(request, subscriber, {
        sendToAgent: (tools, done) => this.send({ type: 'set_host_tools', tools }, undefined, done),
        onResponse,
      });
    else {
      const handleResponse = (response: AgentResponse) => {
        // An agent that only read has been replaced, so that the request can be repeated.
        if (agent.isRetired && !response.success) {
          this.send(request, subscriber, onResponse);
          return;
        }
        try {
          this.#trackRun(request, response);
        } finally {
          this.#publisher.whenRunsAreStored(() => onResponse(response));
        }
        if (request.type === 'bash' && response.success) this.#publisher.handleBashEnd();
        else if (request.type === 'bash') this.#publisher.refreshRunningBash();
        this.#schedulePark();
      };
      agent.request(request, { requester: subscriber, onResponse: handleResponse });
      if (request.type === 'bash') this.#publisher.refreshRunningBash();
    }
  }

  /** Sends waiting reads of clients that have read their output meanwhile. */
  continueReads(): void {
    this.#agent?.continueReads();
  }

  /** Tracks the run of an accepted prompt before its sender gets the response. */
  #trackRun(request: CommandRequest, response: AgentResponse): void {
    const { disposition, duplicate } = this.#runs.handleResponse(request, response);
    if (duplicate && disposition === 'started') this.#publisher.expectRepeat();
  }

  /** Sends the combined preferences of all clients to the agent if they changed. */
  updatePreferences(): void {
    const { attached, liveState } = this.#subscribers;
    this.#dialogTimeouts.update(liveState.dialogs, attached);
    const preferences = this.#agent && this.#preferences.takeChanged(attached);
    if (!preferences) return;
    this.#agent?.request({ type: 'hello', ...preferences }, { onResponse: () => {} });
    // The agent cancels such dialogs without an event.
    if (preferences.ui.length === 0)
      for (const id of liveState.dialogs.keys()) this.#publisher.resolveDialog(id, 'nobody');
  }

  /** Sends a client the output of the running tools in the form that it changed to. */
  replayOutput(subscriber: Subscriber): void {
    this.#subscribers.replayOutput(subscriber);
  }

  /** Sends a client all entries, then each new one. */
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

  /** Disconnects all attached clients: the session is about to be deleted. */
  disconnectAll(): void {
    for (const subscriber of [...this.#subscribers.attached]) subscriber.onSessionDeleted();
  }

  #handleStart(state: SessionState): void {
    this.#state = state;
    this.#runs.enterSession(state.sessionId, this.#currentAgent.access);
    this.#published.markUpTo(state.messageCount);
    this.updatePreferences();
    this.#schedulePark();
  }

  #handleSessionChange(state: SessionState): void {
    this.#state = state;
    void this.#options.session.moveTo(state.sessionId);
  }

  async #handleCrash(reason: string): Promise<void> {
    this.#subscribers.forgetWarnings();
    this.#options.callbacks.onCrash(reason);
    await this.#publisher.endInterrupted(reason);
  }

  get #currentTarget(): SessionTarget {
    if (!this.hasStarted) return this.#target;
    const { sessionId: id, sessionFile: path, cwd } = this;
    return path === undefined ? { kind: 'new', id, cwd } : { kind: 'stored', path, id, cwd };
  }

  /** Restores the client-specific state in an agent that has replaced another one. */
  #restoreClients(): void {
    this.#entryRouter.reset();
    this.#subscribers.stopEntries();
    const tools = this.#tools.allTools;
    if (tools.length > 0) this.#agent?.request({ type: 'set_host_tools', tools }, { onResponse: () => {} });
    for (const subscriber of this.#subscribers.attached) if (subscriber.receivesEntries) this.followEntries(subscriber);
    this.#snapshots.resend();
  }

  /** Ends an agent without running work; its clients connect again, because the server is shutting down. */
  async closeIfIdle(): Promise<void> {
    if (this.#isClosing || this.#isBusy) return;
    this.#moveClients();
    await this.close();
  }

  /** Another process owns the session: its clients reconnect, and nothing of this agent counts any more. */
  async #endOwnership(): Promise<void> {
    this.#moveClients();
    const killed = this.#currentAgent.kill();
    // Counts as closing from now on: a client that connects again must not find it.
    await Promise.all([this.close(), killed]);
  }

  #moveClients(): void {
    for (const subscriber of [...this.#subscribers.attached]) subscriber.onSessionMoved();
  }

  async #fail(reason: string): Promise<void> {
    for (const subscriber of [...this.#subscribers.attached]) subscriber.onAgentLost(reason);
    await this.close();
  }

  /** Parks the agent after an idle delay without clients. */
  #schedulePark(): void {
    clearTimeout(this.#parkTimer);
    if (this.#isClosing || this.#clientCount > 0) return;
    const park = () => (this.#isUnattachedAndIdle ? void this.#park() : this.#schedulePark());
    this.#parkTimer = setTimeout(park, Math.max(this.#parkDelayMs, MIN_PARK_DELAY_MS)).unref();
  }

  /** Parks the agent and drops its run ends: a later client has missed too much to need them. */
  #park(): Promise<void> {
    this.#runs.forget();
    return this.close();
  }

  get #isClosing(): boolean {
    return this.#currentAgent.isEnding;
  }

  get #isUnattachedAndIdle(): boolean {
    return this.#clientCount === 0 && !this.#isBusy;
  }

  get #isBusy(): boolean {
    const { isCompacting } = this.#subscribers.liveState;
    const isAtWork = this.status !== 'idle' || isCompacting || this.#agent?.hasClientRequests === true;
    return isAtWork || this.#publisher.isBusy;
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      clearTimeout(this.#parkTimer);
      this.#dialogTimeouts.close();
      await this.#currentAgent.end();
      // The last entries of the agent are stored before the session is released.
      await this.#publisher.drained();
      // An agent that had to be killed did not end its run.
      if (this.status !== 'idle' && !this.#options.session.lost.aborted)
        await this.#publisher.endInterrupted(TERMINATED);
      await this.#options.callbacks.onClose();
    })();
    return this.#closing;
  }
}

const withArgs = (launch: AgentLaunch, args: readonly string[]): AgentLaunch =>
  args.length > 0 ? { ...launch, args: [...launch.args, ...args] } : launch;
