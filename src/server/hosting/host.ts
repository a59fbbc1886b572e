import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { AgentEvent, Frame, HeartbeatEvent, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { Exit } from '../../system/process-group.ts';
import type { Listener, Request, Snapshot, Target, Wish } from '../sessions.ts';
import { Answer } from './answer.ts';
import { Audience } from './audience.ts';
import { DialogDesk, uiOf } from './dialog-desk.ts';
import { EntryFeed } from './entry-feed.ts';
import type { HostOptions } from './host-options.ts';
import { HostedAgent } from './hosted-agent.ts';
import { InOrder } from './in-order.ts';
import { RunWatch, settledOf } from './run-watch.ts';
import { SessionRecord } from './session-record.ts';
import { takeSnapshot } from './snapshot.ts';
import { ToolDesk } from './tool-desk.ts';

/** How often an agent may crash within a time before it is given up. */
const MAX_CRASHES = 3;
const CRASH_WINDOW_MS = 60_000;

/** Requests that may wait for an agent that is being started. */
const MAX_WAITING = 200;

const TERMINATED = 'Pi process terminated';

/** What a frame says whose rest cannot be read. */
type BrokenFrame = { readonly type: Frame['type']; readonly id: string; readonly text: string };

const PROMPTING: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);

/**
 * One session that lives: an agent of its own, and everybody who hears it. The agent outlives the clients; when it dies
 * it is started again, and what it was at is ended.
 */
export class Host {
  readonly #options: HostOptions;
  readonly #audience: Audience;
  readonly #inOrder: InOrder;
  readonly #runs: RunWatch;
  readonly #tools = new ToolDesk((listener) => this.#audience.listeners.has(listener));
  readonly #dialogs: DialogDesk;
  readonly #entries = new EntryFeed();
  readonly #beats = new Map<Listener, number>();
  #agent: HostedAgent | undefined;
  #state: SessionState | undefined;
  /** What the agent was told of its clients last. */
  #told = '';
  #ready: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #crashes: number[] = [];
  #leaving: Promise<void> | undefined;
  #parking: NodeJS.Timeout | undefined;

  constructor(options: HostOptions) {
    const { journal, marks } = options;
    this.#options = options;
    this.#audience = new Audience(journal);
    this.#runs = new RunWatch(marks, () => journal.epoch);
    this.#dialogs = new DialogDesk((id) => this.#agent?.tell({ type: 'extension_ui_response', id, cancelled: true }));
    this.#inOrder = new InOrder(
      (texts) => journal.append(texts),
      (error) => void this.#giveUp(messageOf(error)),
    );
  }

  get sessionId(): string {
    return this.#state?.sessionId ?? this.#options.target.id;
  }

  get sessionFile(): string | undefined {
    const { target } = this.#options;
    return this.#state ? this.#state.sessionFile : target.kind === 'stored' ? target.path : undefined;
  }

  get cwd(): string {
    return this.#state?.cwd ?? this.#options.target.cwd;
  }

  get pid(): number | undefined {
    return this.#agent?.pid;
  }

  get clients(): number {
    return this.#audience.listeners.size;
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
  async attach(listener: Listener, { cursor, tail }: Wish): Promise<void> {
    await this.start();
    clearTimeout(this.#parking);
    const isResumed = cursor && (await this.#audience.resume(listener, cursor, this.#place));
    if (!isResumed) await this.#introduce(listener, { cursor, tail });
    this.wantsChanged();
    if (!isResumed && listener.entries) this.follow(listener);
  }

  detach(listener: Listener): void {
    this.#audience.remove(listener);
    this.#beats.delete(listener);
    this.#tools.left(listener, (failure) => this.#agent?.tell(failure));
    this.wantsChanged();
    this.#rest();
  }

  /** Asks the agent, in the name of a client or of nobody. */
  send(request: Request, listener: Listener | undefined, answered: (answer: Answer) => void): void {
    const refuse = (refusal: Refusal) => answered(Answer.refusal(request.type, refusal));
    const agent = this.#agent;
    if (this.#leaving) refuse(new Refusal('internal', TERMINATED));
    else if (!agent) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(() => this.send(request, listener, answered));
      else refuse(new Refusal('overloaded', 'The agent is being started, and too much waits for it'));
    } else if (agent.isOverloaded) refuse(new Refusal('overloaded', 'Too many commands wait for the agent'));
    else if (request.type === 'set_host_tools' && listener)
      this.#tools.register(request, listener, { agent, answered });
    else {
      const heard = (answer: Answer) => {
        this.#noteAnswer(request, answer);
        answered(answer);
      };
      agent.ask(request, { asker: listener, answered: heard });
    }
  }

  frame(frame: Frame | BrokenFrame, listener: Listener): void {
    const { id, type } = frame;
    const words = 'text' in frame ? frame.text : frame;
    if (type === 'extension_ui_response') {
      if (!this.#audience.situation.dialogs.delete(id)) return;
      this.#agent?.tell(words);
      this.#publish({ type: 'extension_ui_resolved', id, by: 'client' });
    } else if (this.#tools.isFrom(listener, id, { isLast: type === 'host_tool_result' })) this.#agent?.tell(words);
  }

  /** A client has come, gone, or wants something else: tells the agent if that makes a difference. */
  wantsChanged(): void {
    const { listeners, situation } = this.#audience;
    this.#dialogs.look(situation.dialogs, listeners);
    const wishes = JSON.stringify(this.#wishes());
    if (wishes === this.#told || !this.#agent) return;
    this.#told = wishes;
    this.#agent.ask({ type: 'hello', ...this.#wishes() }, { answered: () => {} });
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

  get #place() {
    return { sessionId: this.sessionId, sessionFile: this.sessionFile };
  }

  #wishes() {
    const intervals = [...this.#audience.listeners].map(({ heartbeatMs }) => heartbeatMs).filter((ms) => ms > 0);
    return { ui: uiOf(this.#audience.listeners), heartbeatMs: intervals.length > 0 ? Math.min(...intervals) : 0 };
  }

  async #startAgent(target: Target): Promise<void> {
    const agent = new HostedAgent(this.#options.agent, target, {
      answered: (deliver) => this.#inOrder.push({ take: deliver }),
      heard: (event, text) => this.#heard(event, text),
      gone: (exit) => void this.#gone(agent, exit),
    });
    const wishes = this.#wishes();
    this.#told = JSON.stringify(wishes);
    this.#state = await agent.start({ legacyNames: false, ...wishes });
    this.#agent = agent;
    this.#runs.enter(this.#state.sessionId);
    this.#rest();
    for (const send of this.#waiting.splice(0)) send();
  }

  #heard(event: AgentEvent, text: string): void {
    const inTurn = (take: () => void) => this.#inOrder.push({ take });
    if (event.type === 'ready') return;
    if (event.type === 'heartbeat') inTurn(() => this.#beat(event));
    else if (event.type === 'host_tool_call')
      inTurn(() => this.#tools.call(event, (failure) => this.#agent?.tell(failure)));
    else if (event.type === 'host_tool_cancel') inTurn(() => this.#tools.cancel(event));
    else if (event.type === 'bash_execution_update') {
      const { asker, name } = this.#agent?.askerOf(event.id) ?? {};
      inTurn(() => asker?.tell(name === undefined ? { ...event, id: undefined } : { ...event, id: name }));
    } else if (event.type === 'entry_appended') {
      const recipient = this.#entries.recipientOf(event);
      if (recipient === 'everybody') this.#keep(event, text);
      else inTurn(() => recipient.hear(new SessionRecord(event, { text })));
    } else this.#keep(event, text);
  }

  #publish(event: AgentEvent): void {
    this.#keep(event, JSON.stringify(event));
  }

  #keep(event: AgentEvent, text: string): void {
    this.#inOrder.push({ keep: text, take: (seq = 0) => this.#happened(event, { seq, text }) });
  }

  #happened(event: AgentEvent, told: { seq: number; text: string }): void {
    this.#runs.hear(event);
    this.#audience.publish(event, told);
    if (event.type === 'agent_start' && !this.#runs.isKnown) this.#learnRun();
    if (event.type === 'agent_settled') this.#rest();
    if (event.type === 'extension_ui_request')
      this.#dialogs.look(this.#audience.situation.dialogs, this.#audience.listeners);
    if (event.type === 'compaction_end' && event.result) this.#resync();
    if (event.type === 'state_changed' && typeof event.state['sessionId'] === 'string') this.#moved();
  }

  /** Whether a prompt was accepted is known before its sender is told: its run is ended, whatever happens then. */
  #noteAnswer(request: Request, answer: Answer): void {
    if (answer.success && PROMPTING.has(request.type)) {
      const { runId } = answer.data() as { runId?: string };
      const { clientMessageId } = request;
      if (runId !== undefined)
        this.#runs.accepted(runId, typeof clientMessageId === 'string' ? clientMessageId : undefined);
    }
    if (answer.success && request.type === 'navigate_tree') this.#resync();
    this.#rest();
  }

  /** An extension has opened a run: nobody was told its id. */
  #learnRun(): void {
    const answered = (answer: Answer) => {
      const { runId } = answer.success ? (answer.data() as SessionState) : {};
      if (runId !== undefined) this.#runs.accepted(runId, undefined);
    };
    this.#agent?.ask({ type: 'get_state' }, { answered });
  }

  #beat(event: HeartbeatEvent): void {
    const now = performance.now();
    for (const listener of this.#audience.listeners) {
      const last = this.#beats.get(listener) ?? Number.NEGATIVE_INFINITY;
      // Timers are not exact: half an interval is nearer to this one than to the next.
      if (listener.heartbeatMs === 0 || now - last < listener.heartbeatMs / 2) continue;
      this.#beats.set(listener, now);
      listener.tell(event);
    }
  }

  #introduce(listener: Listener, { cursor, tail }: Wish): Promise<void> {
    const resume = cursor ? ('gap' as const) : undefined;
    const { leftOver } = this.#options;
    return new Promise((resolve, reject) => {
      const use = (snapshot: Snapshot) => {
        this.#audience.introduce(listener, { place: this.#place, snapshot, resume });
        if (leftOver && leftOver.epoch === cursor?.epoch) listener.hear(new SessionRecord(settledOf(leftOver)));
        resolve();
      };
      this.#withSnapshot(tail, use, reject);
    });
  }

  /** Tells everybody the conversation anew. */
  #resync(): void {
    this.#withSnapshot(undefined, (snapshot) => this.#audience.resync(snapshot));
  }

  /** The agent went to another session by itself, and everybody with it. */
  #moved(): void {
    this.#entries.reset();
    this.#withSnapshot(undefined, (snapshot) => {
      this.#state = snapshot.state;
      this.#runs.enter(snapshot.state.sessionId);
      this.#audience.move(this.#place, snapshot);
    });
  }

  #withSnapshot(
    tail: number | undefined,
    use: (snapshot: Snapshot) => void,
    fail: (error: Error) => void = () => {},
  ): void {
    const agent = this.#agent;
    if (agent) takeSnapshot({ agent, tail, happened: () => this.#audience.told, use, fail });
    else if (this.#leaving) fail(new Error(TERMINATED));
    else this.#waiting.push(() => this.#withSnapshot(tail, use, fail));
  }

  /** The agent has ended without being asked to. */
  async #gone(agent: HostedAgent, { code, signal }: Exit): Promise<void> {
    if (this.#agent !== agent || this.#leaving) return;
    this.#agent = undefined;
    const how = `${TERMINATED} (${signal ?? `exit code ${code}`})`;
    this.#options.news.crashed(how);
    this.#settle(how);
    const now = performance.now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < CRASH_WINDOW_MS), now];
    // One that left in good order wanted to.
    if (code === 0 || this.#crashes.length > MAX_CRASHES) return this.#giveUp(TERMINATED);
    try {
      await this.#startAgent({ kind: 'stored', path: this.sessionFile ?? '', id: this.sessionId, cwd: this.cwd });
      this.#comeBack();
    } catch (error) {
      await this.#giveUp(messageOf(error));
    }
  }

  /** Ends what was under way, as the agent would have. */
  #settle(how: string): void {
    this.#publish({ type: 'server_error', error: how });
    const { situation } = this.#audience;
    this.#inOrder.push({
      take: () => {
        const wasWorking = situation.isWorking;
        const dialogs = [...situation.dialogs.keys()];
        const settled = this.#runs.cutOff();
        situation.clear();
        for (const id of dialogs) this.#publish({ type: 'extension_ui_resolved', id, by: 'abort' });
        if (wasWorking) this.#publish({ type: 'agent_end', messages: [], willRetry: false, isTerminal: true });
        if (settled) this.#publish(settled);
      },
    });
  }

  /** A new agent goes on with the session: it knows nothing of the clients. */
  #comeBack(): void {
    this.#entries.reset();
    const tools = this.#tools.all;
    if (tools.length > 0) this.#agent?.ask({ type: 'set_host_tools', tools }, { answered: () => {} });
    for (const listener of this.#audience.listeners) if (listener.entries) this.follow(listener);
    this.#resync();
  }

  async #giveUp(reason: string): Promise<void> {
    for (const listener of [...this.#audience.listeners]) listener.lost(reason);
    await this.#leave();
  }

  /** Parks the agent when it has had nothing to do for a while. */
  #rest(): void {
    clearTimeout(this.#parking);
    if (this.#leaving || !this.#isForgotten) return;
    const park = () => (this.#isForgotten ? void this.#leave() : undefined);
    this.#parking = setTimeout(park, this.#options.parkAfterMs).unref();
  }

  get #isForgotten(): boolean {
    const isBusy = this.status !== 'idle' || this.#audience.situation.isCompacting || this.#agent?.isAsked;
    return this.#audience.listeners.size === 0 && !isBusy;
  }

  #leave(): Promise<void> {
    this.#leaving ??= (async () => {
      clearTimeout(this.#parking);
      this.#dialogs.close();
      await this.#agent?.end();
      this.#agent = undefined;
      this.#options.news.over();
    })();
    return this.#leaving;
  }
}
