import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Frame, HostTool, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { ProcessExit } from '../../system/processes/process-group.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Listener, Request, Target, Wish } from '../sessions.ts';
import { Answer } from './answer.ts';
import { Audience } from './audience.ts';
import { Briefing } from './briefing.ts';
import { Crashes } from './crashes.ts';
import { DialogDesk, uiOf } from './dialog-desk.ts';
import { EntryFeed } from './entry-feed.ts';
import { Heartbeats } from './heartbeats.ts';
import type { HostOptions } from './host-options.ts';
import { HostedAgent } from './hosted-agent.ts';
import { RunWatch } from './run-watch.ts';
import { SessionEvents } from './session-events.ts';
import { Told } from './told.ts';
import { ToolDesk } from './tool-desk.ts';

/** Requests that may wait for an agent that is being started. */
const MAX_WAITING = 200;

/** How soon it is looked again whether an agent has something to do. */
const MIN_REST_MS = 100;

const TERMINATED = 'Pi process terminated';

/**
 * One session that lives: an agent of its own, and everybody who hears it. The agent outlives the clients; when it dies
 * it is started again, and what it was at is ended.
 */
export class Host {
  readonly #options: HostOptions;
  readonly #audience: Audience;
  readonly #runs: RunWatch;
  readonly #tools = new ToolDesk((listener) => this.#audience.listeners.has(listener));
  readonly #dialogs: DialogDesk;
  readonly #events: SessionEvents;
  readonly #entries = new EntryFeed();
  readonly #said = new Told();
  readonly #briefing: Briefing;
  /** The one that runs, or is being started. */
  #newest: HostedAgent | undefined;
  /** The one that can be asked. */
  #agent: HostedAgent | undefined;
  #state: SessionState | undefined;
  /** What the agent was told of its clients last. */
  #told = '';
  #ready: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  readonly #crashes = new Crashes();
  #leaving: Promise<void> | undefined;
  #parking: NodeJS.Timeout | undefined;
  #expected = 0;
  /** How long the agent waits for somebody to come. */
  #patienceMs: number;

  constructor(options: HostOptions) {
    const { journal, marks } = options;
    this.#options = options;
    this.#patienceMs = options.parkAfterMs;
    this.#audience = new Audience(journal, options.news.stumbled);
    this.#briefing = new Briefing({
      audience: this.#audience,
      told: this.#said,
      place: () => ({ sessionId: this.sessionId, sessionFile: this.sessionFile }),
      missedBy: (cursor) => this.#runs.missedBy(cursor),
      whenReady: (work) => this.#whenReady(work),
    });
    this.#runs = new RunWatch(marks, () => journal.epoch);
    this.#dialogs = new DialogDesk((id) => {
      this.#agent?.tell({ type: 'extension_ui_response', id, cancelled: true });
      this.#events.resolve(id, 'timeout');
    });
    this.#events = new SessionEvents({
      journal,
      audience: this.#audience,
      briefing: this.#briefing,
      runs: this.#runs,
      said: this.#said,
      tools: this.#tools,
      dialogs: this.#dialogs,
      entries: this.#entries,
      agent: () => this.#agent,
      entered: (state) => this.#entered(state),
      rest: () => this.#rest(),
      broken: (error) => void this.#giveUp(messageOf(error)),
      stumbled: options.news.stumbled,
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
  get hasBegun(): boolean {
    return this.#state !== undefined;
  }

  get cwd(): string {
    return this.#state?.cwd ?? this.#options.target.cwd;
  }

  get pid(): number | undefined {
    return this.#agent?.pid;
  }

  /** How many are here, or are about to be. */
  get clients(): number {
    return this.#expected;
  }

  get status(): 'running' | 'waiting' | 'idle' {
    if (this.#audience.situation.dialogs.size > 0) return 'waiting';
    return this.#runs.isActive || this.#audience.situation.isWorking ? 'running' : 'idle';
  }

  /** There when it is over, or will be soon. */
  get leaving(): Promise<void> | undefined {
    return this.#leaving;
  }

  /** Starts the agent, once. Fails with the reason why it cannot be. */
  start(): Promise<void> {
    this.#ready ??= this.#startAgent(this.#options.target).catch(async (error: unknown) => {
      await this.#leave();
      throw error;
    });
    return this.#ready;
  }

  /** Lets a client hear the session from now on. */
  async attach(listener: Listener, wish: Wish): Promise<void> {
    await this.start();
    clearTimeout(this.#parking);
    const how = await this.#briefing.attach(listener, wish);
    this.wantsChanged();
    if (how === 'introduced' && listener.entries) this.follow(listener);
  }

  /** Somebody is about to attach: the agent is needed. */
  expect(): void {
    this.#expected++;
  }

  /** `toAnother`: the client has gone to another session. Where it was alone and nothing is to be done, the agent leaves. */
  async detach(listener: Listener, { toAnother = false } = {}): Promise<void> {
    this.#expected--;
    this.#patienceMs = toAnother ? 0 : this.#options.parkAfterMs;
    this.#audience.remove(listener);
    this.#tools.left(listener, (failure) => this.#agent?.tell(failure));
    if (toAnother && this.#isForgotten) await this.#park();
    this.wantsChanged();
    this.#rest();
  }

  /** Asks the agent, in the name of a client or of nobody. */
  send(request: Request, listener: Listener | undefined, answered: (answer: Answer) => void): void {
    const refuse = (refusal: Refusal) => answered(Answer.refusal(request.type, refusal));
    const agent = this.#agent;
    if (this.#isLeaving) refuse(new Refusal('internal', TERMINATED));
    else if (!agent) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(() => this.send(request, listener, answered));
      else refuse(new Refusal('overloaded', 'The agent is being started, and too much waits for it'));
    } else if (agent.isOverloaded) refuse(new Refusal('overloaded', 'Too many commands wait for the agent'));
    else if (request.type === 'set_host_tools' && listener)
      this.#tools.register(request, listener, { ask: (tools, done) => this.#register(tools, done), answered });
    else {
      const heard = (answer: Answer) => {
        const { disposition, duplicate } = this.#runs.answered(request, answer);
        if (duplicate && disposition === 'started') this.#events.saysAgain();
        answered(answer);
        if (request.type === 'bash' && answer.success) this.#events.ranInShell();
        else if (request.type === 'bash') this.#events.runsInShell();
        this.#rest();
      };
      agent.ask(request, { asker: listener, answered: heard });
      if (request.type === 'bash') this.#events.runsInShell();
    }
  }

  #register(tools: readonly HostTool[], answered: (answer: Answer) => void): void {
    this.send({ type: 'set_host_tools', tools }, undefined, answered);
  }

  /** Hands over what a client says of a dialog or of a tool of its own. */
  frame(frame: Frame, listener: Listener): void {
    const { id, type } = frame;
    if (type === 'extension_ui_response') {
      if (!this.#audience.situation.dialogs.has(id)) return;
      this.#agent?.tell(frame);
      this.#events.resolve(id, 'client');
    } else if (this.#tools.isFrom(listener, id, { isLast: type === 'host_tool_result' })) this.#agent?.tell(frame);
  }

  /** The agent does not understand it either: it is told what it was meant to be, or what has become of the call. */
  brokenFrame(frame: MalformedFrame, listener: Listener): void {
    const { name: type, id } = frame;
    const failed = type === 'host_tool_result' ? this.#tools.broken(listener, frame) : undefined;
    if (failed) this.#agent?.tell(failed);
    else this.frame({ type, id } as Frame, listener);
  }

  /** A client has come, gone, or wants something else: tells the agent if that makes a difference. */
  wantsChanged(): void {
    const { listeners, situation } = this.#audience;
    this.#dialogs.look(situation.dialogs, listeners);
    const wishes = this.#wishes();
    if (JSON.stringify(wishes) === this.#told || !this.#agent) return;
    this.#told = JSON.stringify(wishes);
    this.#agent.ask({ type: 'hello', ...wishes }, { answered: () => {} });
    // The agent ends what nobody wants to see, and has nobody to tell.
    if (wishes.ui.length === 0) for (const id of situation.dialogs.keys()) this.#events.resolve(id, 'nobody');
  }

  /** Tells a client every entry there is, and from then on every new one. */
  follow(listener: Listener): void {
    const answered = () => {};
    this.#agent?.askTogether([
      [
        { type: 'hello', entries: false },
        { answered, arrived: () => this.#entries.begin(listener) },
      ],
      [
        { type: 'hello', entries: true },
        { answered: () => this.#audience.entriesBegin(), arrived: () => this.#entries.end() },
      ],
    ]);
  }

  /** Lets the agent store everything and leave. */
  close(): Promise<void> {
    return this.#leave();
  }

  #wishes() {
    const { listeners } = this.#audience;
    return { ui: uiOf(listeners), heartbeatMs: Heartbeats.intervalFor(listeners) };
  }

  async #startAgent(target: Target): Promise<void> {
    const agent = new HostedAgent(this.#options.agent, target, {
      answered: (deliver) => this.#events.inTurn(deliver),
      heard: (event, text) => this.#events.hear(event, text),
      stumbled: (error) => this.#options.news.stumbled(error),
      gone: (exit) => void this.#gone(agent, exit),
    });
    this.#newest = agent;
    const wishes = this.#wishes();
    this.#told = JSON.stringify(wishes);
    const state = await agent.start({ legacyNames: false, ...wishes });
    if (!this.hasBegun && isAnother(state, target))
      throw new Refusal('session_not_found', `Session not found: ${target.id}`);
    this.#state = state;
    this.#agent = agent;
    this.#runs.enter(state.sessionId);
    this.#said.upTo(state.messageCount);
    this.wantsChanged();
    this.#rest();
    for (const again of this.#waiting.splice(0)) again();
  }

  /** The agent is in another session. */
  #entered(state: SessionState): void {
    this.#state = state;
    this.#options.news.moved(state.sessionId);
  }

  /** Calls back as soon as there is an agent that can be asked; with none when there will be none. */
  #whenReady(work: (agent: HostedAgent | undefined) => void): void {
    if (this.#agent || this.#isLeaving) work(this.#agent);
    else this.#waiting.push(() => this.#whenReady(work));
  }

  /** The agent has ended without being asked to. */
  async #gone(agent: HostedAgent, { code, signal }: ProcessExit): Promise<void> {
    if (this.#agent !== agent || this.#isLeaving) return;
    this.#agent = undefined;
    const how = `${TERMINATED} (${signal ?? `exit code ${code}`})`;
    this.#options.news.crashed(how);
    await this.#events.cutOff(how);
    if (this.#isLeaving) return;
    // One that left in good order wanted to.
    if (code === 0) return this.#giveUp(TERMINATED);
    await this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    if (this.#crashes.add()) return this.#giveUp(TERMINATED);
    try {
      await this.#startAgent(this.#whereItWas);
      this.#comeBack();
    } catch {
      if (!this.#isLeaving) await this.#startAgain();
    }
  }

  get #whereItWas(): Target {
    const { sessionId: id, sessionFile: path, cwd } = this;
    return path === undefined ? { kind: 'new', id, cwd } : { kind: 'stored', path, id, cwd };
  }

  /** A new agent goes on with the session: it knows nothing of the clients. */
  #comeBack(): void {
    this.#entries.reset();
    this.#audience.entriesEnd();
    const tools = this.#tools.all;
    if (tools.length > 0) this.#agent?.ask({ type: 'set_host_tools', tools }, { answered: () => {} });
    for (const listener of this.#audience.listeners) if (listener.entries) this.follow(listener);
    this.#briefing.renew();
  }

  async #giveUp(reason: string): Promise<void> {
    for (const listener of [...this.#audience.listeners]) listener.lost(reason);
    await this.#leave();
  }

  /** Parks the agent when it has had nothing to do for a while. */
  #rest(): void {
    clearTimeout(this.#parking);
    if (this.#isLeaving || this.#expected > 0) return;
    const park = () => (this.#isForgotten ? void this.#park() : this.#rest());
    this.#parking = setTimeout(park, Math.max(this.#patienceMs, MIN_REST_MS)).unref();
  }

  /** Whoever comes later has missed too much to be told the ends of runs. */
  #park(): Promise<void> {
    this.#runs.forget();
    return this.#leave();
  }

  get #isLeaving(): boolean {
    return this.#leaving !== undefined;
  }

  get #isForgotten(): boolean {
    const isBusy = this.status !== 'idle' || this.#audience.situation.isCompacting || this.#agent?.isAsked;
    return this.#expected === 0 && !isBusy;
  }

  #leave(): Promise<void> {
    this.#leaving ??= (async () => {
      clearTimeout(this.#parking);
      this.#dialogs.close();
      await this.#newest?.end();
      this.#agent = undefined;
      this.#options.news.over();
    })();
    // They learn that there is nobody to ask.
    for (const again of this.#waiting.splice(0)) again();
    return this.#leaving;
  }
}

/** An agent begins another session where the file is gone. One that is no tau may not say in which it is. */
const isAnother = ({ sessionId }: Partial<SessionState>, target: Target) =>
  target.kind === 'stored' && sessionId !== undefined && sessionId !== target.id;
