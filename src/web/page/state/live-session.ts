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
import { socketAddress } from '../entrance/server.ts';
import { Notices } from './notices.ts';
import type { Place } from './place.ts';
import { isVisible } from './visibility.ts';

/** How many of the last messages are told at first; those before are asked for when somebody reads that far. */
const TAIL = 60;

/** How long what was asked for may take to be answered after somebody has left. */
const LEAVING_LIMIT_MS = 30_000;

/** What extensions can show here. Titles come only to those who ask for them. */
const SHOWN = [...dialogMethods, 'notify', 'setStatus', 'setWidget', 'setTitle', 'set_editor_text'] as const;

/** After these the numbers of a session are others. */
const COUNTED = new Set<AgentEvent['type']>([
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
  readonly place: Place;
  readonly #view = signal<ConversationView>(emptyView);
  /** The session that is drawn. */
  readonly id: ReadonlySignal<string> = computed(() => this.#view.value.state.sessionId ?? this.place.id);
  /** Whether a snapshot has come; a greeting names the session only. */
  readonly isKnown = computed(() => this.#view.value.state.thinkingLevel !== undefined);
  readonly #connection = signal<ConnectionStatus>({ state: 'connecting' });
  /** Whether the server knows this login no more. */
  readonly isLoggedOut = computed(() => {
    const { state, code } = this.#connection.value;
    return state === 'closed' && code === closeCodes.invalidToken;
  });
  /** Whether there is no connection any more, but may be one again. */
  readonly isCutOff = computed(() => ['reconnecting', 'lost'].includes(this.#connection.value.state));
  /** Why what is meant for what runs now cannot be done. */
  readonly hindrance = computed(() => (this.isCutOff.value ? 'There is no connection' : undefined));
  readonly #outbox = signal<readonly OutboxItem[]>([]);
  readonly #answered = new RecentIds();
  /** What there is to be told, and was not dismissed. */
  readonly notices = new Notices({ view: this.#view, connection: this.#connection });
  readonly #lastRun = signal<AgentSettledEvent | undefined>(undefined);
  readonly #stats = signal<SessionStats | undefined>(undefined);
  readonly #snapshots = signal(0);
  #latest: ConversationView = emptyView;
  #latestSnapshots = 0;
  #isDrawing = false;
  #isCounting = false;
  /** Whether something has happened since the numbers were asked for. */
  #isOutdated = false;
  /** How much was asked for and is not answered. */
  #underWay = 0;
  #isLeft = false;
  readonly #stopLooking: () => void;

  constructor(place: Place) {
    const address = socketAddress();
    if (place.kind === 'new') address.searchParams.set('new', place.id);
    this.place = place;
    this.remote = new RemoteSession(address.href, {
      ...(place.kind === 'new' ? { cwd: place.cwd } : { session: place.id }),
      tail: TAIL,
      ui: SHOWN,
    });
    this.remote.onEvent((event) => this.hear(event));
    this.remote.onState(() => this.#drawSoon());
    // A frame that was asked for before the page was hidden does not come.
    this.#stopLooking = isVisible.subscribe(this.#draw);
    void this.remote.hello({ client: { name: 'tau page' }, builtins: true }).catch(() => {});
  }

  /** The session that was told of last: a move may not be drawn yet. */
  get latestId(): string {
    return this.#latest.state.sessionId ?? this.place.id;
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
  hear(event: AgentEvent): void {
    // The answer is still under way.
    if (event.type === 'extension_ui_request' && this.#answered.has(event.id)) return;
    this.change((view) => reduce(view, event));
    if (event.type === 'state_synced') this.#latestSnapshots++;
    const isElsewhere = event.type === 'server_connected' && event.resume !== 'ok';
    if (event.type === 'agent_start' || isElsewhere) this.#lastRun.value = undefined;
    if (event.type === 'agent_settled') this.#lastRun.value = event;
    if (COUNTED.has(event.type)) void this.#count();
  }

  /** Hears what extensions put into the box, and of which session; the returned function stops that. */
  onEditorText(listener: (text: string, sessionId: string) => void): () => void {
    return this.remote.onEvent((event) => {
      if (event.type === 'extension_ui_request' && event.method === 'set_editor_text')
        listener(event.text, this.latestId);
    });
  }

  /** Changes what is known by what an answer has told. */
  change(by: (view: ConversationView) => ConversationView): void {
    this.#latest = by(this.#latest);
    this.#drawSoon();
  }

  /** Does something that may fail, and shows why it did; answers whether it was done. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.during(work);
      return true;
    } catch (error) {
      if (!(error instanceof Withdrawn)) this.complain(error);
      return false;
    }
  }

  /** Does something whose answer is waited for, also by a connection that was left. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      const done = work();
      // A message is in the outbox now, and may be out of it before the next frame.
      this.#outbox.value = this.remote.outbox;
      return await done;
    } finally {
      this.#drawSoon();
      this.#underWay--;
      this.#closeWhenAnswered();
    }
  }

  /**
   * The same with something that somebody wrote; answers whether it is theirs again. What was sent is not, though nobody
   * waited for the answer: it may have been done.
   */
  async isRefused(work: () => Promise<unknown>): Promise<boolean> {
    let mayBeDone = false;
    const isDone = await this.attempt(() =>
      work().catch((error: unknown) => {
        mayBeDone = this.#isLeft && error instanceof ConnectionLost && !(error instanceof NotSent);
        throw error;
      }),
    );
    return !isDone && !mayBeDone;
  }

  complain(error: unknown): void {
    this.notices.add({ kind: 'error', text: messageOf(error) });
  }

  /** Answers a question. Whoever does is not told that it is over. */
  answer(response: ExtensionUiResponse): void {
    const { id } = response;
    this.#answered.add(id);
    this.remote.send(response);
    this.hear({ type: 'extension_ui_resolved', id });
  }

  /** Says something that only whoever looks at this page has to know. */
  remark(message: string): void {
    this.notices.add({ kind: 'info', text: message });
  }

  /** Leaves, but hears what was asked for before that: an answer may hold the only copy of what somebody wrote. */
  close(): void {
    this.#stopLooking();
    this.#isLeft = true;
    const limit = setTimeout(() => this.remote.close(), LEAVING_LIMIT_MS);
    this.remote.onClose(() => clearTimeout(limit));
    this.remote.onState(() => this.#closeWhenAnswered());
    this.#closeWhenAnswered();
  }

  /** Without a connection there is no answer to wait for. */
  #closeWhenAnswered(): void {
    const { state } = this.remote.status;
    const mayAnswer = state === 'open' || state === 'connecting';
    if (this.#isLeft && (this.#underWay === 0 || !mayAnswer)) this.remote.close();
  }

  /** Everything that comes within a frame is drawn together. A page that nobody sees has no frames. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    if (isVisible.peek()) requestAnimationFrame(this.#draw);
    else setTimeout(this.#draw);
  }

  readonly #draw = (): void => {
    this.#isDrawing = false;
    this.#view.value = this.#latest;
    this.#snapshots.value = this.#latestSnapshots;
    const { status } = this.remote;
    // Whoever tries again still sees what was wrong.
    const isRetried = status.state === 'reconnecting' && status.reason === undefined;
    this.#connection.value = isRetried ? { ...this.#connection.peek(), ...status } : status;
    this.#outbox.value = this.remote.outbox;
  };

  /** One question at a time; after what happens meanwhile it is asked once more. */
  async #count(): Promise<void> {
    this.#isOutdated = true;
    if (this.#isCounting) return;
    this.#isCounting = true;
    while (this.#isOutdated) {
      this.#isOutdated = false;
      try {
        this.#stats.value = await this.remote.getSessionStats();
      } catch {
        // The next event asks again.
      }
    }
    this.#isCounting = false;
  }
}
