import { type CloseCode, closeCodes, type ErrorCode, Refusal } from '../../protocol/errors.ts';
import type {
  AgentEvent,
  EntryAppendedEvent,
  HostTool,
  ServerDisconnectedEvent,
} from '../../protocol/generated/vocabulary.ts';
import { reachableStats } from '../../system/files/reachable-stats.ts';
import { type Dialect, defaultDialect, hasAddedIds, withIds, withoutIds } from '../../wire/dialect.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { accessOf, type Grant, mayOpen, permits } from '../auth/grant.ts';
import type { SessionRecord } from '../session-record.ts';
import type {
  Access,
  AttachOptions,
  AttachResult,
  DialogAnswer,
  SessionHandle,
  SessionTarget,
  Snapshot,
  Subscriber,
} from '../sessions.ts';
import { ClientCommands, MAX_IN_FLIGHT_PER_CLIENT } from './client-commands.ts';
import { type ClientEventQueue, clientEventQueue } from './client-event-queue.ts';
import type { ClientSocket } from './client-socket.ts';
import type { ConnectParameters } from './connect-parameters.ts';
import { Inbox } from './inbox.ts';
import { seesAllFields, visibleEvent, visibleTo, withoutContent } from './redact-records.ts';
import type { GatewayServices } from './services.ts';
import { slowClientPolicy } from './slow-clients.ts';

// Unread responses beyond which no more commands of a client are read.
const MAX_UNREAD_RESPONSES = 16 * 1024 * 1024;

// Unread output beyond which the next read of a client waits.
const MAX_UNREAD_FOR_READS = 1024 * 1024;

/** The grant and address of a client. */
export interface ClientIdentity {
  readonly grant: Grant;
  readonly address: string;
}

interface CloseReason {
  readonly code: CloseCode;
  readonly reason: ServerDisconnectedEvent['reason'];
  readonly message: string;
  readonly error?: ErrorCode;
  readonly retryAfterMs?: number;
}

/** A client of the server: checks its commands, sends them to its session, and forwards the session's events. */
export class Client implements Subscriber {
  ui: readonly string[] | undefined;
  receivesEntries: boolean;
  receivesIds: boolean;
  heartbeatMs = 0;
  /** Whether slash commands of prompts include the built-in ones. */
  builtins = false;
  /** The tools of this client, registered again in every session it moves to. */
  hostTools: readonly HostTool[] | undefined;
  readonly identity: ClientIdentity;
  readonly services: GatewayServices;
  readonly #socket: ClientSocket;
  readonly #events: ClientEventQueue;
  readonly #inbox: Inbox;
  readonly #commands: ClientCommands;
  readonly #attachOptions: AttachOptions;
  #handle: SessionHandle | undefined;
  /** The session that is being opened. */
  #openingSessionId: string | undefined;
  #isClosed = false;

  constructor(
    socket: ClientSocket,
    identity: ClientIdentity,
    { stream, toolOutput, legacyNames, entries, ids, ui, cursor, tail }: ConnectParameters,
    services: GatewayServices,
  ) {
    this.#socket = socket;
    this.identity = identity;
    this.services = services;
    this.#commands = new ClientCommands(this, (text) => this.#sendText(text));
    this.ui = ui;
    this.receivesEntries = entries && this.canView;
    this.receivesIds = ids;
    // Without the scope, a snapshot has no messages.
    this.#attachOptions = this.canView ? { cursor, tail } : { tail: 1 };
    const dialect: Dialect = { ...defaultDialect, stream, toolOutput, legacyNames, hookErrors: true };
    this.#events = clientEventQueue(socket, dialect, {
      formFor: (record) => this.#formFor(record),
      policy: slowClientPolicy(this),
      onDrained: () => {
        this.#updateReading();
        services.snapshots.lower(this, this.#events.unread);
        this.#handle?.continueReads();
      },
    });
    this.#inbox = new Inbox({ onLine: (line) => this.#commands.handle(line), onFlood: () => this.#closeForFlood() });
    socket.onMessage((bytes) => {
      this.#inbox.receive(bytes);
      this.#updateReading();
    });
    socket.onClose((code) => this.#handleClose(code));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isCumulative(): boolean {
    return this.#events.dialect.stream === 'cumulative';
  }

  get receivesOutputDeltas(): boolean {
    return this.#events.dialect.toolOutput !== 'cumulative';
  }

  /** Whether input is held back; then reading may be paused, which also delays pongs. */
  get isHeld(): boolean {
    return this.#inbox.isHeld;
  }

  get isBehind(): boolean {
    return this.#events.unread > MAX_UNREAD_FOR_READS;
  }

  get canAnswerDialogs(): boolean {
    return this.canView && permits(this.identity.grant, 'extension_ui_response');
  }

  get access(): Access {
    return accessOf(this.identity.grant);
  }

  get canView(): boolean {
    return this.identity.grant.scopes.has('view');
  }

  get receivesTitles(): boolean {
    return this.services.emitTitles;
  }

  get isAdmin(): boolean {
    return this.identity.grant.scopes.has('admin');
  }

  get dialect(): Dialect {
    return this.#events.dialect;
  }

  set dialect(dialect: Dialect) {
    this.#events.dialect = dialect;
  }

  get sessionId(): string | undefined {
    return this.#handle?.sessionId;
  }

  /** The session that this client keeps alive or is opening. */
  get occupiedSessionId(): string | undefined {
    return this.#openingSessionId ?? this.sessionId;
  }

  /** Opens the first session. Input is held until then. */
  async start(find: () => Promise<SessionTarget>): Promise<void> {
    try {
      const target = await find();
      if (this.#isClosed) return;
      await this.#openSession(target, this.#attachOptions, () => {});
      this.services.audit.record({ action: 'connect', ...this.identity, sessionId: this.sessionId, outcome: 'ok' });
      this.#releaseInbox();
    } catch (error) {
      this.#rejectSession(Refusal.from(error));
    }
  }

  /** Moves to another session, or stays if that fails. `onOpened` runs before the first event of the new session. */
  async switchTo(target: SessionTarget, onOpened: () => void): Promise<void> {
    await this.#openSession(target, { tail: this.#attachOptions.tail }, onOpened);
    this.#releaseInbox();
  }

  async #openSession(target: SessionTarget, options: AttachOptions, onOpened: () => void): Promise<void> {
    const { sessions, exceedsSessionQuota } = this.services;
    if (!this.isAdmin && exceedsSessionQuota(this, target.id))
      throw new Refusal('overloaded', 'Too many sessions of one token');
    this.#openingSessionId = target.id;
    const handle = await sessions.open(target, this).finally(() => {
      this.#openingSessionId = undefined;
    });
    const previous = this.#handle;
    this.#inbox.hold();
    if (!this.#isClosed) await previous?.close({ isSessionSwitch: previous.sessionId !== handle.sessionId });
    if (this.#isClosed) {
      void handle.close();
      throw new Error('The client has left');
    }
    this.#handle = handle;
    onOpened();
    await this.#attach(handle, target, options);
    const { hostTools: tools } = this;
    if (this.#isClosed) void handle.close();
    else if (tools) await new Promise<unknown>((done) => handle.send({ type: 'set_host_tools', tools }, done));
  }

  /** Attaches to the session when there is memory for its snapshot. */
  async #attach(handle: SessionHandle, target: SessionTarget, options: AttachOptions): Promise<void> {
    const { snapshots } = this.services;
    await snapshots.reserve(this, options.tail === undefined ? storedBytes(target) : 0);
    if (this.#isClosed) return;
    await handle.attach(options);
    snapshots.lower(this, this.#events.unread);
  }

  #releaseInbox(): void {
    this.#inbox.release();
    this.#updateReading();
  }

  /** Runs work that holds back commands of the session lanes. */
  exclusively(work: () => Promise<void>): Promise<void> {
    return this.#commands.exclusively(work);
  }

  /** The session of this client, once it is opened. */
  get attachedHandle(): SessionHandle | undefined {
    return this.#handle;
  }

  get handle(): SessionHandle {
    if (!this.#handle) throw new Refusal('internal', 'There is no session');
    return this.#handle;
  }

  onAttached({ sessionId, sessionFile, epoch, seq, resume }: AttachResult): void {
    this.services.metrics.onAttach(resume);
    const location = { sessionFile: sessionFile ?? null, sessionId };
    const { pingMs } = this.services;
    this.sendPrivate({ type: 'server_connected', ...location, seq, epoch, ...(resume ? { resume } : {}), pingMs });
  }

  /** Without the scope `view`, the client gets a state without content, because clients wait for one. */
  onSnapshot({ state, messages, cursor }: Snapshot): void {
    const visible = visibleTo(this, { state }).state;
    if (!this.canView) {
      this.sendPrivate({ type: 'state_synced', state: withoutContent(visible), messages: [] });
      return;
    }
    const stateJson = JSON.stringify(visible);
    const page = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`;
    const ids = this.receivesIds ? `"sessionId":${JSON.stringify(this.sessionId)},` : '';
    this.#sendText(`{"type":"state_synced",${ids}"state":${stateJson},"messages":${messages}${page}}`);
    this.services.snapshots.hold(this, Math.min(messages.length, this.#events.unread));
  }

  onRecord(record: SessionRecord): void {
    const { event } = record;
    // An agent may change to another folder and take its clients along.
    const folder = event.type === 'state_changed' ? event.state['cwd'] : undefined;
    if (typeof folder === 'string' && !mayOpen(this.identity.grant, folder)) {
      this.#rejectSession(new Refusal('session_not_found', 'Session not found: it is in another folder now'));
      return;
    }
    if (!this.canView) return;
    this.services.metrics.onRecordSent();
    this.#events.publish(record);
  }

  sendPrivate(event: AgentEvent): void {
    this.#sendText(JSON.stringify(this.#withOwnIds(event)));
  }

  #withOwnIds(event: AgentEvent): AgentEvent {
    return this.receivesIds ? withIds(event, { sessionId: this.sessionId, runId: undefined }) : withoutIds(event);
  }

  onAnswer(answer: DialogAnswer): void {
    this.#commands.onAnswer(answer);
  }

  onAgentLost(reason: string): void {
    this.close({ code: closeCodes.agentFailed, reason: 'error', message: reason, error: 'internal' });
  }

  onSessionMoved(): void {
    this.close({
      code: closeCodes.restart,
      reason: 'close',
      message: 'The session moved: connect again',
      retryAfterMs: 0,
    });
  }

  onSessionDeleted(): void {
    this.#rejectSession(new Refusal('session_not_found', 'Session not found: it was deleted'));
  }

  close({ code, reason, message, error, retryAfterMs }: CloseReason): void {
    if (this.#isClosed) return;
    const more = retryAfterMs === undefined ? {} : { retryAfterMs };
    if (reason === 'error') this.#sendLast({ type: 'server_error', error: message, ...(error ? { code: error } : {}) });
    this.#sendLast({ type: 'server_disconnected', reason, message, code, ...more });
    this.#handleClose(code);
    this.#socket.close(code, message);
  }

  #handleClose(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#inbox.close();
    this.#events.close();
    this.services.snapshots.release(this);
    void this.#handle?.close();
    this.#commands.close();
    this.services.audit.record({
      action: 'close',
      ...this.identity,
      sessionId: this.sessionId,
      outcome: 'ok',
      closeCode: code,
    });
    this.services.onClientClosed(this);
  }

  /** Closes a client that gets no session. */
  #rejectSession(refusal: Refusal): void {
    if (this.#isClosed) return;
    this.services.audit.record({ action: 'refused', ...this.identity, outcome: refusal.code });
    this.close({ code: closeCodeFor(refusal), reason: 'error', message: refusal.message, error: refusal.code });
  }

  #sendLast(event: AgentEvent): void {
    this.#events.sendLast(payloadOf(JSON.stringify(event)));
  }

  #sendText(json: string): void {
    this.#events.send(payloadOf(json));
    this.#updateReading();
  }

  /** Reads on unless too much is in flight or unread. */
  #updateReading(): void {
    if (!this.#isClosed)
      this.#socket.setReading(
        this.#inbox.heldCount <= MAX_IN_FLIGHT_PER_CLIENT && this.#events.unread <= MAX_UNREAD_RESPONSES,
      );
  }

  #closeForFlood(): void {
    const error = 'overloaded';
    this.close({ code: closeCodes.tooManyCommands, reason: 'error', message: 'Too many commands', error });
  }

  /** The form of a record for this client: redacted, and with or without ids; undefined: as it is. */
  #formFor({ event }: SessionRecord) {
    const isRedacted = this.#isRedacted(event);
    const changesIds = this.receivesIds ? event.sessionId === undefined : hasAddedIds(event);
    if (!isRedacted && !changesIds) return undefined;
    const rights = `redacted ${this.isAdmin} ${this.canAnswerDialogs}`;
    const name = `${isRedacted ? rights : ''} ${this.receivesIds ? 'ids' : ''}`;
    const apply = (form: AgentEvent) => this.#withOwnIds(isRedacted ? visibleEvent(this, form) : form);
    return { name, apply };
  }

  #isRedacted(event: AgentEvent): boolean {
    if (event.type === 'entry_appended') return this.#hidesParent(event);
    return event.type === 'state_changed' && !seesAllFields(this);
  }

  /** Whether the entry is a header that names a session which this client may not open. */
  #hidesParent({ entry }: EntryAppendedEvent): boolean {
    const { parentSession } = entry as { parentSession?: unknown };
    return typeof parentSession === 'string' && !this.services.catalog.mayOpenFile(parentSession, this.identity.grant);
  }
}

/** The size of a session file: an estimate of its snapshot. */
const storedBytes = (target: SessionTarget) =>
  target.kind === 'stored' ? (reachableStats(target.path)?.size ?? 0) : 0;

const payloadOf = (json: string) => Buffer.from(escapeLineBreaks(json));

function closeCodeFor({ code }: Refusal): CloseCode {
  if (code === 'session_not_found' || code === 'not_a_session') return closeCodes.sessionNotFound;
  if (code === 'permission_denied') return closeCodes.denied;
  if (code === 'invalid_params') return closeCodes.badParameters;
  if (code === 'session_in_use') return closeCodes.sessionInUse;
  if (code === 'overloaded') return closeCodes.overloaded;
  return closeCodes.agentFailed;
}
