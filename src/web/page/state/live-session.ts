import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import { AnsweredDialogs } from '../../../client/answered-dialogs.ts';
import { ConnectionLost, NotSent, Withdrawn } from '../../../client/errors.ts';
import type { OutboxItem } from '../../../client/remote/outbox.ts';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { RemoteSession } from '../../../client/remote/remote-session.ts';
import { type ConversationView, emptyView, reduce } from '../../../client/view/view.ts';
import { dialogMethods } from '../../../protocol/dialog-methods.ts';
import { closeCodes, messageOf } from '../../../protocol/errors.ts';
import type {
  AgentEvent,
  AgentSettledEvent,
  ExtensionUiResponse,
  SessionStats,
} from '../../../protocol/generated/vocabulary.ts';
import { socketAddress } from '../server-api.ts';
import { isVisible } from './browser-signals.ts';
import { type NoticeAction, Notices } from './notices.ts';
import type { PageLocation } from './page-location.ts';

// Messages in the first snapshot; earlier ones load while the user scrolls up.
const INITIAL_MESSAGES = 60;

// A page reconnects for as long as it is open, at least this often.
const MAX_RECONNECT_DELAY_MS = 15_000;

// Pending requests of a closed session have this long to get their response.
const CLOSE_TIMEOUT_MS = 30_000;

// Titles are sent only to clients that request them.
const UI_METHODS = [
  ...dialogMethods,
  'notify',
  'setStatus',
  'setWidget',
  'setTitle',
  'set_editor_text',
  'open_url',
] as const;

// Events that change the session statistics.
const STATS_EVENTS = new Set<AgentEvent['type']>([
  'state_synced',
  'turn_end',
  'agent_settled',
  'compaction_end',
  'state_changed',
]);

/** The open session: the state of the client as signals. It holds nothing that the server does not have. */
export class LiveSession {
  static #last = 0;
  /** Identifies this connection. */
  readonly number = ++LiveSession.#last;
  readonly remote: RemoteSession;
  /** The requested location; a command may switch sessions later. */
  readonly origin: PageLocation;
  readonly #view = signal<ConversationView>(emptyView);
  /** The id of the drawn session. */
  readonly id: ReadonlySignal<string> = computed(() => this.#view.value.state.sessionId ?? this.origin.id);
  /** Whether a snapshot was applied; the greeting names only the session. */
  readonly isLoaded = computed(() => this.#view.value.state.thinkingLevel !== undefined);
  readonly #connection = signal<ConnectionStatus>({ state: 'connecting' });
  /** Whether the server rejects the login. */
  readonly isLoggedOut = computed(() => {
    const { state, code } = this.#connection.value;
    return state === 'closed' && code === closeCodes.invalidToken;
  });
  /** Whether the connection is lost but may come back. */
  readonly isOffline = computed(() => this.#connection.value.state === 'reconnecting');
  /** The reason why a running agent cannot be controlled now. */
  readonly blockedBy = computed(() => (this.isOffline.value ? 'There is no connection' : undefined));
  readonly #outbox = signal<readonly OutboxItem[]>([]);
  readonly #answeredDialogs = new AnsweredDialogs();
  readonly notices = new Notices({ view: this.#view, connection: this.#connection });
  readonly #lastRun = signal<AgentSettledEvent | undefined>(undefined);
  /** The number of shell commands that were started here: the conversation scrolls to their results. */
  readonly shellRuns = signal(0);
  readonly #stats = signal<SessionStats | undefined>(undefined);
  readonly #snapshots = signal(0);
  readonly #isSynced = signal(true);
  #latest: ConversationView = emptyView;
  #latestSnapshots = 0;
  #isLatestSynced = true;
  #isDrawScheduled = false;
  #isLoadingStats = false;
  /** Whether an event changed the statistics since they were requested. */
  #areStatsStale = false;
  #pendingRequests = 0;
  #isClosing = false;
  readonly #stopWatchingVisibility: () => void;

  constructor(target: PageLocation) {
    const address = socketAddress();
    if (target.kind === 'new') address.searchParams.set('new', target.id);
    this.origin = target;
    this.remote = new RemoteSession(address.href, {
      ...(target.kind === 'new' ? { cwd: target.cwd } : { session: target.id }),
      approvals: { mode: 'auto', sandbox: 'auto' },
      tail: INITIAL_MESSAGES,
      ui: UI_METHODS,
      reconnection: { maxRetries: Number.POSITIVE_INFINITY, maxDelayMs: MAX_RECONNECT_DELAY_MS },
    });
    this.remote.onEvent((event) => this.apply(event));
    this.remote.onState(() => this.#scheduleDraw());
    // A frame requested before the tab was hidden never fires.
    this.#stopWatchingVisibility = isVisible.subscribe(this.#draw);
    void this.remote.hello({ client: { name: 'tau page' }, builtins: true }).catch(() => {});
  }

  /** The id of the latest applied session; a switch may not be drawn yet. */
  get latestId(): string {
    return this.#latest.state.sessionId ?? this.origin.id;
  }

  get view(): ReadonlySignal<ConversationView> {
    return this.#view;
  }

  /** The number of drawn snapshots. */
  get snapshots(): ReadonlySignal<number> {
    return this.#snapshots;
  }

  /** False from a new connection until its snapshot: whether a run is active is not known then. */
  get isSynced(): ReadonlySignal<boolean> {
    return this.#isSynced;
  }

  get connection(): ReadonlySignal<ConnectionStatus> {
    return this.#connection;
  }

  /** Messages that the server has not acknowledged. */
  get outbox(): ReadonlySignal<readonly OutboxItem[]> {
    return this.#outbox;
  }

  /** The end of the last run; undefined while one is active. A run may start and end within one frame. */
  get lastRun(): ReadonlySignal<AgentSettledEvent | undefined> {
    return this.#lastRun;
  }

  /** Tokens, cost and context usage; undefined before the first response. */
  get stats(): ReadonlySignal<SessionStats | undefined> {
    return this.#stats;
  }

  /** Applies an event of the server or of this client. */
  apply(event: AgentEvent): void {
    if (this.#answeredDialogs.isRepeated(event)) return;
    this.update((view) => reduce(view, event));
    const isFreshConnection = event.type === 'server_connected' && event.resume !== 'ok';
    if (isFreshConnection) this.#isLatestSynced = false;
    if (event.type === 'state_synced') {
      this.#latestSnapshots++;
      this.#isLatestSynced = true;
    }
    if (event.type === 'agent_start' || isFreshConnection) this.#lastRun.value = undefined;
    if (event.type === 'agent_settled') this.#handleSettled(event);
    if (STATS_EVENTS.has(event.type)) void this.#loadStats();
  }

  /** The end of a run that was missed comes before the snapshot, in which nothing may show that it was interrupted. */
  #handleSettled(event: AgentSettledEvent): void {
    this.#lastRun.value = event;
    if (event.errorCode === 'interrupted' && !this.#isLatestSynced)
      this.notices.add({ kind: 'warning', text: 'The run was interrupted: its server ended' });
  }

  /** Calls the listener when an extension sets the editor text; returns a function that stops this. */
  onEditorText(listener: (text: string, sessionId: string) => void): () => void {
    return this.remote.onEvent((event) => {
      if (event.type === 'extension_ui_request' && event.method === 'set_editor_text')
        listener(event.text, this.latestId);
    });
  }

  /** Applies a change of the view, for example from a response. */
  update(reducer: (view: ConversationView) => ConversationView): void {
    this.#latest = reducer(this.#latest);
    this.#scheduleDraw();
  }

  /** Runs work and shows its error; returns whether it succeeded. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.track(work);
      return true;
    } catch (error) {
      if (!(error instanceof Withdrawn)) this.showError(error);
      return false;
    }
  }

  /** Runs a request that `close()` waits for. */
  async track<T>(work: () => Promise<T>): Promise<T> {
    this.#pendingRequests++;
    try {
      const result = work();
      // A prompt is in the outbox now, and may leave it before the next frame.
      this.#outbox.value = this.remote.outbox;
      return await result;
    } finally {
      this.#scheduleDraw();
      this.#pendingRequests--;
      this.#closeWhenIdle();
    }
  }

  /**
   * Runs work for text of the user; returns whether it has to be restored. After a close, a request that was sent may
   * have run: its text is not restored.
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

  /** Sends a dialog response and removes the dialog at once. */
  respond(response: ExtensionUiResponse): void {
    const { id } = response;
    this.#answeredDialogs.add(id);
    this.remote.send(response);
    this.apply({ type: 'extension_ui_resolved', id });
  }

  showNotice(message: string, action?: NoticeAction): void {
    this.notices.add({ kind: 'info', text: message, action });
  }

  /** Closes after the pending requests got their responses: one may hold the only copy of a text of the user. */
  close(): void {
    this.#stopWatchingVisibility();
    this.#isClosing = true;
    const timeout = setTimeout(() => this.remote.close(), CLOSE_TIMEOUT_MS);
    this.remote.onClose(() => clearTimeout(timeout));
    this.remote.onState(() => this.#closeWhenIdle());
    this.#closeWhenIdle();
  }

  /** Without a connection no response can arrive. */
  #closeWhenIdle(): void {
    const { state } = this.remote.status;
    const canRespond = state === 'open' || state === 'connecting';
    if (this.#isClosing && (this.#pendingRequests === 0 || !canRespond)) this.remote.close();
  }

  /** All events of a frame are drawn together. A hidden page has no frames. */
  #scheduleDraw(): void {
    if (this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    if (isVisible.peek()) requestAnimationFrame(this.#draw);
    else setTimeout(this.#draw);
  }

  readonly #draw = (): void => {
    this.#isDrawScheduled = false;
    batch(() => {
      this.#view.value = this.#latest;
      this.#snapshots.value = this.#latestSnapshots;
      this.#isSynced.value = this.#isLatestSynced;
    });
    const { status } = this.remote;
    // A retry keeps the reason of the last failure on the screen.
    const isRetrying = status.state === 'reconnecting' && status.reason === undefined;
    this.#connection.value = isRetrying ? { ...this.#connection.peek(), ...status } : status;
    this.#outbox.value = this.remote.outbox;
  };

  /** Sends one request at a time; events in the meantime cause one more. */
  async #loadStats(): Promise<void> {
    this.#areStatsStale = true;
    if (this.#isLoadingStats) return;
    this.#isLoadingStats = true;
    while (this.#areStatsStale) {
      this.#areStatsStale = false;
      try {
        this.#stats.value = await this.remote.getSessionStats();
      } catch {
        // The next event retries.
      }
    }
    this.#isLoadingStats = false;
  }
}
