import { closeCodes } from '../../protocol/errors.ts';
import type {
  AgentEvent,
  CommandName,
  Frame,
  Params,
  Result,
  ServerConnectedEvent,
} from '../../protocol/generated/vocabulary.ts';
import { BaseClient } from '../base-client.ts';
import { callListener } from '../call-listener.ts';
import { CommandFailed, ConnectionLost } from '../errors.ts';
import { parseRecord, type WireRecord } from '../pending-commands.ts';
import { randomUuid } from '../random-uuid.ts';
import { SettledRuns } from '../recent-ids.ts';
import { InitialApprovals, isUsableAfter, type RequestedApprovals } from './initial-approvals.ts';
import { type Command, isMessage, isMove, Outbox, type OutboxItem } from './outbox.ts';
import { type ConnectionStatus, ReconnectingSocket } from './reconnecting-socket.ts';
import { type ConnectionEnd, defaultReconnection, type ReconnectionConfig } from './reconnection.ts';
import { type RemoteTarget, type ServerAddresses, serverUrls, sessionUrl } from './remote-url.ts';
import { ResumeCursor } from './resume-cursor.ts';
import { type OpenSocket, openBuiltInSocket } from './socket.ts';
import { Watchdog } from './watchdog.ts';

/** Options of a session on a server. */
export interface RemoteOptions extends Pick<RemoteTarget, 'token' | 'session' | 'cwd' | 'tail' | 'entries' | 'ui'> {
  /**
   * Requested once for a session that this client creates, before anything else; an existing session keeps its mode. A
   * refusal leaves the mode in the state, but `sandbox_unavailable` closes the client: nothing runs without the sandbox.
   */
  readonly approvals?: RequestedApprovals | undefined;
  readonly reconnection?: Partial<ReconnectionConfig> | undefined;
  /** After the last retry: `wait` (default) keeps unsent commands for `retry()`; `close` gives up. */
  readonly whenLost?: 'wait' | 'close' | undefined;
  /** Defaults to the built-in WebSocket. */
  readonly openSocket?: OpenSocket | undefined;
  /** Returns 0 to 1; randomises the delays between retries. */
  readonly random?: (() => number) | undefined;
}

/**
 * A session on a server that reconnects by itself: every event is delivered once and every message arrives once.
 *
 * Commands may be called at any time; without a connection they wait. A command that changes state and is in flight
 * when the connection is lost rejects with `ConnectionLost`, because its outcome is unknown.
 */
export class RemoteSession extends BaseClient {
  readonly #options: RemoteOptions;
  readonly #socket: ReconnectingSocket;
  readonly #outbox = new Outbox((text) => this.#socket.send(text));
  readonly #watchdog = new Watchdog({
    ping: () => void this.#ping(),
    onSilence: () => this.#socket.drop('The server is silent'),
  });
  readonly #cursor = new ResumeCursor();
  readonly #settledRuns = new SettledRuns();
  readonly #stateListeners = new Set<(status: ConnectionStatus) => void>();
  /** The session for the next connection. */
  #target: Pick<RemoteTarget, 'session' | 'cwd' | 'new'>;
  #sessionId: string | undefined;
  /** The `server_connected` event of this connection, or of its last session move. */
  #connected: ServerConnectedEvent | undefined;
  /** Whether `state_synced` of the current snapshot is still missing. */
  #awaitsSnapshot = false;
  /** The ping whose response marks the end of the snapshot. */
  #snapshotPingId: string | undefined;
  readonly #approvals: InitialApprovals | undefined;
  #approvalCommandId: string | undefined;
  /** The `hello` parameters to repeat on each connection. */
  #hello: Params<'hello'> = {};
  #commandCount = 0;

  /**
   * Connects at once. `address` is a server or a session on it, with or without a token. Several addresses lead to one
   * cluster; they are tried in turn.
   */
  constructor(address: ServerAddresses, options: RemoteOptions = {}) {
    super();
    const servers = serverUrls(address);
    const { searchParams } = servers[0];
    this.#options = options;
    const session = options.session ?? searchParams.get('session') ?? undefined;
    const cwd = options.cwd ?? searchParams.get('cwd') ?? undefined;
    const id = searchParams.get('new') ?? undefined;
    this.#target = { session, cwd, new: session === undefined ? (id ?? randomUuid()) : undefined };
    const isNew = session === undefined && options.approvals !== undefined;
    this.#approvals = isNew ? new InitialApprovals(options.approvals, { mayExist: id !== undefined }) : undefined;
    this.#socket = new ReconnectingSocket({
      addressCount: servers.length,
      url: (index) => this.#url(servers[index] ?? servers[0]),
      openSocket: options.openSocket ?? openBuiltInSocket,
      config: { ...defaultReconnection, ...options.reconnection },
      random: options.random,
      onOpen: () => {},
      onText: (text) => this.#receive(text),
      onDisconnect: (ending) => this.#handleDisconnect(ending),
      onStatus: (status) => this.#handleStatus(status),
    });
    this.#socket.connect();
  }

  /** Undefined until the server has sent it. A session move changes it. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get status(): ConnectionStatus {
    return this.#socket.status;
  }

  /** Unacknowledged messages, in order. */
  get outbox(): readonly OutboxItem[] {
    return this.#outbox.items;
  }

  /** Withdraws a message that was never sent: its call rejects. Returns whether there is such a message. */
  withdraw(clientMessageId: string): boolean {
    return this.#outbox.withdraw(clientMessageId);
  }

  /** Calls the listener on every status change; the returned function stops that. */
  onState(listener: (status: ConnectionStatus) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** Reconnects now, also after every retry has failed. Does nothing while connected. */
  retry(): void {
    this.#socket.retry();
  }

  /** Pings at once, and reconnects if nothing arrives within `PROBE_TIMEOUT_MS`. */
  checkConnection(): void {
    this.#watchdog.probeNow();
  }

  override call<C extends CommandName>(command: C, params: Params<C>): Promise<Result<C>> {
    if (this.lost) return Promise.reject(this.lost);
    const identified = isMessage(command) ? { clientMessageId: randomUuid(), ...withoutUndefined(params) } : params;
    return this.#outbox.sendCommand(this.#newCommand(command, identified)) as Promise<Result<C>>;
  }

  /** Runs a shell command; `onOutput` gets its output while the connection lasts. */
  override async bash(params: Params<'bash'>, onOutput?: (text: string) => void): Promise<Result<'bash'>> {
    if (this.lost) throw this.lost;
    const command = this.#newCommand('bash', params);
    const stop = this.onEvent((event) => {
      if (event.type === 'bash_execution_update' && event.id === command.id) onOutput?.(event.delta);
    });
    try {
      return (await this.#outbox.sendCommand(command)) as Result<'bash'>;
    } finally {
      stop();
    }
  }

  override send(frame: Frame): void {
    if (!this.lost) this.#outbox.sendFrame(frame);
  }

  override close(): void {
    this.#socket.close();
  }

  #url(server: URL): string {
    const { token, tail, entries, ui } = this.#options;
    return sessionUrl(server, { token, tail, entries, ui, ...this.#target, ...this.#cursor.position });
  }

  #newCommand(type: CommandName, params: object): Command {
    return { id: `req_${++this.#commandCount}`, type, ...params };
  }

  #receive(text: string): void {
    this.#watchdog.onReceived();
    const record = parseRecord(text);
    if (record?.['type'] === 'response') this.#handleResponse(record);
    else if (record) this.#receiveEvent(record as AgentEvent & WireRecord, text.length);
  }

  #handleResponse(response: WireRecord): void {
    // Before the outbox sends the prompts that wait for it.
    const isApproval = this.#approvalCommandId !== undefined && response['id'] === this.#approvalCommandId;
    if (isApproval && response['success'] !== true && !isUsableAfter(response['code']))
      this.#socket.close(String(response['error']));
    const command = this.#outbox.handleResponse(response);
    if (command && command.id === this.#snapshotPingId) this.#completeSnapshot();
    if (command?.type === 'hello' && response['success'] === true) this.#rememberHello(command);
    const { cancelled, sessionId } = (response['data'] ?? {}) as WireRecord;
    // A reconnect from now on targets the new session.
    if (command && isMove(command) && !cancelled && typeof sessionId === 'string') this.#setSession(sessionId);
  }

  #receiveEvent(event: AgentEvent, length: number): void {
    if (!isWellFormed(event)) this.#socket.drop('The server speaks another language');
    else if (this.#accept(event)) {
      this.handleEvent(event, length);
      if (hasMessage(event)) this.#target = { session: this.#sessionId };
      if (event.type === 'state_synced') {
        this.#approvals?.onSnapshot(event);
        this.#handleSynced();
      }
      if (event.type === 'server_connected' && !this.#awaitsSnapshot) this.#handleAttached(event);
    }
  }

  /** Updates the cursor; returns false for repeated events and events before `server_connected`. */
  #accept(event: AgentEvent): boolean {
    switch (event.type) {
      case 'server_connected':
        this.#handleConnected(event);
        return true;
      case 'server_disconnected':
        this.#socket.expectEnd({ code: event.code, reason: event.message, retryAfterMs: event.retryAfterMs });
        return true;
      case 'server_error':
        this.#socket.noteError(event.error);
        return this.#cursor.advance(event);
      case 'state_synced':
        return this.#connected !== undefined;
      case 'agent_settled':
        return this.#connected !== undefined && this.#cursor.advance(event) && this.#settledRuns.record(event.runId);
      default:
        return this.#connected !== undefined && this.#cursor.advance(event);
    }
  }

  #handleConnected(event: ServerConnectedEvent): void {
    const hasMoved = this.#connected !== undefined || (this.#sessionId ?? event.sessionId) !== event.sessionId;
    this.#connected = event;
    this.#awaitsSnapshot = event.resume !== 'ok' || this.#cursor.position === undefined;
    if (!this.#awaitsSnapshot) return;
    this.#snapshotPingId = undefined;
    // A large snapshot may arrive as one message, with silence before it.
    this.#watchdog.stop();
    this.#socket.markDetached();
    this.#setSession(event.sessionId);
    this.#cursor.beginSnapshot(event.epoch, event.seq);
    const reason = new ConnectionLost('The agent waits for this no more');
    if (hasMoved) {
      this.tools.abortAll(reason);
      this.uiRequests.abortAll(reason);
    } else this.uiRequests.markStale();
  }

  /** The records of the running work follow; a ping response marks their end. */
  #handleSynced(): void {
    if (this.#connected && this.#awaitsSnapshot) {
      this.#awaitsSnapshot = false;
      this.#handleAttached(this.#connected);
    }
    this.#pingAfterSnapshot();
  }

  #pingAfterSnapshot(): void {
    this.#snapshotPingId = this.#ping();
  }

  /** Returns the id of the ping. */
  #ping(): string {
    const ping = this.#newCommand('ping', {});
    this.#outbox.sendUnlimited(ping).catch(() => {});
    return ping.id;
  }

  #completeSnapshot(): void {
    this.#snapshotPingId = undefined;
    this.#cursor.completeSnapshot();
    this.handleSnapshotEnd();
  }

  #handleAttached(connected: ServerConnectedEvent): void {
    // A listener may have closed the session.
    if (this.lost) return;
    this.#requestApprovals(connected);
    const isNewConnection = this.status.state !== 'open';
    this.#socket.markAttached();
    // The server registers tools per connection.
    this.tools.reregister((tools) => {
      this.#outbox.sendFirst(this.#newCommand('set_host_tools', { tools })).catch(() => {});
    });
    if (isNewConnection && Object.keys(this.#hello).length > 0) {
      this.#outbox.sendFirst(this.#newCommand('hello', this.#hello)).catch(() => {});
    }
    this.#outbox.open();
    // The previous connection was lost before the ping response; its snapshot has arrived all the same.
    if (this.#snapshotPingId !== undefined) this.#pingAfterSnapshot();
    this.#watchdog.start(connected.pingMs);
  }

  /** Prompts wait behind this request in the outbox. */
  #requestApprovals(connected: ServerConnectedEvent): void {
    const request = this.#approvals;
    if (request?.begin(connected, { isEmpty: this.#target.new !== undefined })) this.#sendApprovals(request, connected);
  }

  #sendApprovals(request: InitialApprovals, connected: ServerConnectedEvent): void {
    const command = this.#newCommand('set_approval_mode', request.params);
    this.#approvalCommandId = command.id;
    const onFailure = (error: unknown) => {
      const isRefused = error instanceof CommandFailed && error.code === 'permission_denied';
      if (isRefused && request.tighten()) this.#sendApprovals(request, connected);
      else request.end(error instanceof CommandFailed ? connected.epoch : undefined);
    };
    this.#outbox.sendFirst(command).then(() => request.end(connected.epoch), onFailure);
  }

  #rememberHello({ id: _id, type: _type, ...fields }: Command): void {
    this.#hello = { ...this.#hello, ...fields };
  }

  #setSession(session: string): void {
    if (session !== this.#sessionId) this.#cursor.reset();
    this.#sessionId = session;
    // An empty session is not on disk: until it has a message, its client-made id opens or recreates it.
    if (session !== this.#target.new) this.#target = { session };
  }

  #handleDisconnect({ code }: ConnectionEnd): void {
    this.#connected = undefined;
    this.#watchdog.stop();
    // The server has failed these calls.
    this.tools.abortAll(new ConnectionLost('The agent waits for this no more'));
    this.#outbox.handleDisconnect({ wasTooBig: code === closeCodes.tooBig });
  }

  #handleStatus(status: ConnectionStatus): void {
    if (status.state === 'closed') this.#finish(new ConnectionLost(status.reason));
    for (const listener of this.#stateListeners) callListener(listener, status);
    if (status.state === 'lost' && this.#options.whenLost === 'close') this.#socket.close(status.reason);
  }

  #finish(lost: ConnectionLost): void {
    this.#watchdog.stop();
    this.#outbox.close(lost);
    this.end(lost);
  }
}

const withoutUndefined = (params: object) =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));

/** Whether an event that the connection depends on has the required fields. */
function isWellFormed(event: AgentEvent): boolean {
  if (event.type === 'state_synced') return isObject(event.state) && Array.isArray(event.messages);
  if (event.type !== 'server_connected') return true;
  const { sessionId, epoch, seq, pingMs } = event;
  return typeof sessionId === 'string' && typeof epoch === 'string' && Number.isFinite(seq) && Number.isFinite(pingMs);
}

/** Whether the event shows that the session is stored. */
const hasMessage = (event: AgentEvent) =>
  event.type === 'message_end' || (event.type === 'state_synced' && event.messages.length > 0);

const isObject = (value: unknown) => typeof value === 'object' && value !== null;
