import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { ConnectionLost, NotSent, Withdrawn } from '../../../client/errors.ts';
import { RecentIds } from '../../../client/recent-ids.ts';
import type { OutboxItem } from '../../../client/remote/outbox.ts';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { RemoteSession } from '../../../client/remote/remote-session.ts';
import { emptyView, reduce, type ConversationView } from '../../../client/view/view.ts';
import { closeCodes } from '../../../protocol/close-codes.ts';
import { dialogMethods } from '../../../protocol/dialog-methods.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type {
  AgentEvent,
  AgentSettledEvent,
  ExtensionUiResponse,
  SessionStats,
} from '../../../protocol/generated/vocabulary.ts';
import { socketAddress } from '../server-api.ts';
import { Notices } from './notices.ts';
import type { PageLocation } from './page-location.ts';
import { isVisible } from './browser-signals.ts';

/** How many of the last messages are told at first; those before are asked for when somebody reads that far. */
const INITIAL_MESSAGES = 60;

/** How long what was asked for may take to be answered after somebody has left. */
const CLOSE_TIMEOUT_MS = 30_000;

/** What extensions can show here. Titles come only to those who ask for them. */
const UI_METHODS = [...dialogMethods, 'notify', 'setStatus', 'setWidget', 'setTitle', 'set_editor_text'] as const;

/** After these the numbers of a session are others. */
const STATS_EVENTS = new Set<AgentEvent['type']>([
  'state_synced',
  'turn_end',
  'agent_settled',
  'compaction_end',
  'state_changed',
]);

/** The session that is looked at: what the client knows of it, as signals. Holds nothing that the server does not. */
export class LiveSession {
  static #last = 0;
  /** Tells this connection from all others. */
  readonly number = ++LiveSession.#last;
  /** What can be asked of the agent. */
  readonly remote: RemoteSession;
  /** Where it was asked for; a move leads elsewhere. */
  readonly origin: PageLocation;
  readonly #view = signal<ConversationView>(emptyView);
  /** The session that is drawn. */
  readonly id: ReadonlySignal<string> = computed(() => this.#view.value.state.sessionId ?? this.origin.id);
  /** Whether a snapshot has come; a greeting names the session only. */
  readonly isLoaded = computed(() => this.#view.value.state.thinkingLevel !== undefined);
  readonly #connection = signal<ConnectionStatus>({ state: 'connecting' });
  /** Whether the server knows this login no more. */
  readonly isLoggedOut = computed(() => {
    const { state, code } = this.#connection.value;
    return state === 'closed' && code === closeCodes.invalidToken;
  });
  /** Whether there is no connection any more, but may be one again. */
  readonly isOffline = computed(() => ['reconnecting', 'lost'].includes(this.#connection.value.state));
  /** Why what is meant for what runs now cannot be done. */
  readonly blockedBy = computed(() => (this.isOffline.value ? 'There is no connection' : undefined));
  readonly #outbox = signal<readonly OutboxItem[]>([]);
  readonly #answeredDialogs = new RecentIds();
  /** What there is to be told, and was not dismissed. */
  readonly notices = new Notices({ view: this.#view, connection: this.#connection });
  readonly #lastRun = signal<AgentSettledEvent | undefined>(undefined);
  readonly #stats = signal<SessionStats | undefined>(undefined);
  readonly #snapshots = signal(0);
  #latest: ConversationView = emptyView;
  #latestSnapshots = 0;
  #isDrawScheduled = false;
  #isLoadingStats = false;
  /** Whether something has happened since the numbers were asked for. */
  #areStatsStale = false;
  /** How much was asked for and is not answered. */
  #pendingRequests = 0;
  #isClosing = false;
  readonly #stopWatchingVisibility: () => void;

  constructor(target: PageLocation) {
    const address = socketAddress();
    if (target.kind === 'new') address.searchParams.set('new', target.id);
    this.origin = target;
    this.remote = new RemoteSession(address.href, {
      ...(target.kind === 'new' ? { cwd: target.cwd } : { session: target.id }),
      tail: INITIAL_MESSAGES,
      ui: UI_METHODS,
    });
    this.remote.onEvent((event) => this.apply(event));
    this.remote.onState(() => this.#scheduleDraw());
    // A frame that was asked for before the page was hidden does not come.
    this.#stopWatchingVisibility = isVisible.subscribe(this.#draw);
    void this.remote.hello({ client: { name: 'tau page' }, builtins: true }).catch(() => {});
  }

  /** The session that was told of last: a move may not be drawn yet. */
  get latestId(): string {
    return this.#latest.state.sessionId ?? this.origin.id;
  }

  get view(): ReadonlySignal<ConversationView> {
    return this.#view;
  }

  /** How many snapshots are drawn. */
  get snapshots(): ReadonlySignal<number> {
    return this.#snapshots;
  }

  get connection(): ReadonlySignal<ConnectionStatus> {
    return this.#connection;
  }

  /** Messages that the server has not acknowledged. */
  get outbox(): ReadonlySignal<readonly OutboxItem[]> {
    return this.#outbox;
  }

  /** How the last run has ended; undefined while one is active. It may begin and end within a frame. */
  get lastRun(): ReadonlySignal<AgentSettledEvent | undefined> {
    return this.#lastRun;
  }

  /** Tokens, cost and how full the context is; undefined until the server has said. */
  get stats(): ReadonlySignal<SessionStats | undefined> {
    return this.#stats;
  }

  /** Takes note of an event, also of one that only this client knows of. */
  apply(event: AgentEvent): void {
    // The answer is still under way.
    if (event.type === 'extension_ui_request' && this.#answeredDialogs.has(event.id)) return;
    this.update((view) => reduce(view, event));
    if (event.type === 'state_synced') this.#latestSnapshots++;
    const isFreshConnection = event.type === 'server_connected' && event.resume !== 'ok';
    if (event.type === 'agent_start' || isFreshConnection) this.#lastRun.value = undefined;
    if (event.type === 'agent_settled') this.#lastRun.value = event;
    if (STATS_EVENTS.has(event.type)) void this.#loadStats();
  }

  /** Hears what extensions put into the box, and of which session; the returned function stops that. */
  onEditorText(listener: (text: string, sessionId: string) => void): () => void {
    return this.remote.onEvent((event) => {
      if (event.type === 'extension_ui_request' && event.method === 'set_editor_text')
        listener(event.text, this.latestId);
    });
  }

  /** Changes what is known by what an answer has told. */
  update(reducer: (view: ConversationView) => ConversationView): void {
    this.#latest = reducer(this.#latest);
    this.#scheduleDraw();
  }

  /** Does something that may fail, and shows why it did; answers whether it was done. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.track(work);
      return true;
    } catch (error) {
      if (!(error instanceof Withdrawn)) this.showError(error);
      return false;
    }
  }

  /** Does something whose answer is waited for, also by a connection that was left. */
  async track<T>(work: () => Promise<T>): Promise<T> {
    this.#pendingRequests++;
    try {
      const result = work();
      // A message is in the outbox now, and may be out of it before the next frame.
      this.#outbox.value = this.remote.outbox;
      return await result;
    } finally {
      this.#scheduleDraw();
      this.#pendingRequests--;
      this.#closeWhenIdle();
    }
  }

  /**
   * The same with something that somebody wrote; answers whether it is theirs again. What was sent is not, though nobody
   * waited for the answer: it may have been done.
   */
  async wasRejected(work: () => Promise<unknown>): Promise<boolean> {
    let mayHaveRun = false;
    const isDone = await this.attempt(() =>
      work().catch((error: unknown) => {
        mayHaveRun = this.#isClosing && error instanceof ConnectionLost && !(error instanceof NotSent);
        throw error;
      }),
    );
    return !isDone && !mayHaveRun;
  }

  showError(error: unknown): void {
    this.notices.add({ kind: 'error', text: messageOf(error) });
  }

  /** Answers a question. Whoever does is not told that it is over. */
  respond(response: ExtensionUiResponse): void {
    const { id } = response;
    this.#answeredDialogs.add(id);
    this.remote.send(response);
    this.apply({ type: 'extension_ui_resolved', id });
  }

  /** Says something that only whoever looks at this page has to know. */
  showNotice(message: string): void {
    this.notices.add({ kind: 'info', text: message });
  }

  /** Leaves, but hears what was asked for before that: an answer may hold the only copy of what somebody wrote. */
  close(): void {
    this.#stopWatchingVisibility();
    this.#isClosing = true;
    const timeout = setTimeout(() => this.remote.close(), CLOSE_TIMEOUT_MS);
    this.remote.onClose(() => clearTimeout(timeout));
    this.remote.onState(() => this.#closeWhenIdle());
    this.#closeWhenIdle();
  }

  /** Without a connection there is no answer to wait for. */
  #closeWhenIdle(): void {
    const { state } = this.remote.status;
    const canRespond = state === 'open' || state === 'connecting';
    if (this.#isClosing && (this.#pendingRequests === 0 || !canRespond)) this.remote.close();
  }

  /** Everything that comes within a frame is drawn together. A page that nobody sees has no frames. */
  #scheduleDraw(): void {
    if (this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    if (isVisible.peek()) requestAnimationFrame(this.#draw);
    else setTimeout(this.#draw);
  }

  readonly #draw = (): void => {
    this.#isDrawScheduled = false;
    this.#view.value = this.#latest;
    this.#snapshots.value = this.#latestSnapshots;
    const { status } = this.remote;
    // Whoever tries again still sees what was wrong.
    const isRetrying = status.state === 'reconnecting' && status.reason === undefined;
    this.#connection.value = isRetrying ? { ...this.#connection.peek(), ...status } : status;
    this.#outbox.value = this.remote.outbox;
  };

  /** One question at a time; after what happens meanwhile it is asked once more. */
  async #loadStats(): Promise<void> {
    this.#areStatsStale = true;
    if (this.#isLoadingStats) return;
    this.#isLoadingStats = true;
    while (this.#areStatsStale) {
      this.#areStatsStale = false;
      try {
        this.#stats.value = await this.remote.getSessionStats();
      } catch {
        // The next event asks again.
      }
    }
    this.#isLoadingStats = false;
  }
}
