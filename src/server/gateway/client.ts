import { type CloseCode, closeCodes } from '../../protocol/close-codes.ts';
import { type ErrorCode, Refusal } from '../../protocol/errors.ts';
import { commandRows, type Lane } from '../../protocol/generated/command-rows.ts';
import type {
  AgentEvent,
  CommandName,
  Frame,
  HostTool,
  ServerDisconnectedEvent,
} from '../../protocol/generated/vocabulary.ts';
import { type Dialect, defaultDialect } from '../../wire/dialect.ts';
import type { Inbound, MalformedFrame } from '../../wire/inbound.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { AgentResponse } from '../agent-response.ts';
import { type Grant, mayOpen, permissionDenied, permits } from '../auth/grant.ts';
import type { SessionRecord } from '../session-record.ts';
import type {
  AttachOptions,
  AttachResult,
  CommandRequest,
  SessionHandle,
  SessionTarget,
  Snapshot,
  Subscriber,
} from '../sessions.ts';
import { ClientEventQueue } from './client-event-queue.ts';
import type { ClientSocket } from './client-socket.ts';
import type { ConnectParameters } from './connect-parameters.ts';
import { type InboundLine, Inbox } from './inbox.ts';
import { containsModels, withoutAddresses } from './redact-models.ts';
import { type ServerCommandHandler, serverCommands } from './server-commands.ts';
import type { GatewayServices } from './services.ts';
import { MoveBarrier } from './session-moves.ts';

// Commands of one client that may be in flight.
export const MAX_IN_FLIGHT_PER_CLIENT = 256;

// Unread responses beyond which no more commands of a client are read.
const MAX_UNREAD_RESPONSES = 16 * 1024 * 1024;

// Commands of these lanes wait for a session move; others run at once.
const BARRIER_LANES: ReadonlySet<Lane> = new Set(['session', 'bash']);

// The grant and address of a client.
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
  readonly #attachOptions: AttachOptions;
  #handle: SessionHandle | undefined;
  readonly #moveBarrier = new MoveBarrier();
  /** The session that is being opened. */
  #openingSessionId: string | undefined;
  #inFlight = 0;
  #isClosed = false;

  constructor(
    socket: ClientSocket,
    identity: ClientIdentity,
    { stream, legacyNames, entries, ui, cursor, tail }: ConnectParameters,
    services: GatewayServices,
  ) {
    this.#socket = socket;
    this.identity = identity;
    this.services = services;
    this.ui = ui;
    this.receivesEntries = entries;
    this.#attachOptions = { cursor, tail };
    const dialect: Dialect = { ...defaultDialect, stream, legacyNames, hookErrors: true };
    this.#events = new ClientEventQueue(socket, dialect, {
      formFor: (record) => this.#redactedForm(record),
      onOverflow: () =>
        this.close({ code: closeCodes.tooSlow, reason: 'timeout', message: 'The client reads too slowly' }),
      onDrained: () => this.#updateReading(),
    });
    this.#inbox = new Inbox({ onLine: (line) => this.#handleLine(line), onFlood: () => this.#closeForFlood() });
    socket.onMessage((bytes) => {
      this.#inbox.receive(bytes);
      this.#updateReading();
    });
    socket.onClose((code) => this.#handleClose(code));
  }

  get isCumulative(): boolean {
    return this.#events.dialect.stream === 'cumulative';
  }

  /** Whether input is held back; then reading may be paused, which also delays pongs. */
  get isHeld(): boolean {
    return this.#inbox.isHeld;
  }

  get canAnswerDialogs(): boolean {
    return permits(this.identity.grant, 'extension_ui_response');
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
  async start(find: () => SessionTarget): Promise<void> {
    try {
      await this.#openSession(find(), this.#attachOptions, () => {});
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
    const handle = await sessions.open(target, this);
    this.#openingSessionId = undefined;
    const previous = this.#handle;
    this.#inbox.hold();
    if (!this.#isClosed) await previous?.close({ isSessionSwitch: previous.sessionId !== handle.sessionId });
    if (this.#isClosed) {
      void handle.close();
      throw new Error('The client has left');
    }
    this.#handle = handle;
    onOpened();
    await handle.attach(options);
    const { hostTools: tools } = this;
    if (this.#isClosed) void handle.close();
    else if (tools) await new Promise<unknown>((done) => handle.send({ type: 'set_host_tools', tools }, done));
  }

  #releaseInbox(): void {
    this.#inbox.release();
    this.#updateReading();
  }

  /** Runs work that holds back commands of the session lanes. */
  exclusively(work: () => Promise<void>): Promise<void> {
    return this.#moveBarrier.runExclusively(work);
  }

  get handle(): SessionHandle {
    if (!this.#handle) throw new Refusal('internal', 'There is no session');
    return this.#handle;
  }

  onAttached({ sessionId, sessionFile, epoch, seq, resume }: AttachResult): void {
    this.services.metrics.onAttach(resume);
    const location = { sessionFile: sessionFile ?? null, sessionId };
    const { pingMs } = this.services;
    this.#send({ type: 'server_connected', ...location, seq, epoch, ...(resume ? { resume } : {}), pingMs });
  }

  onSnapshot({ state, messages, cursor }: Snapshot): void {
    const stateJson = JSON.stringify(this.isAdmin ? state : withoutAddresses({ state }).state);
    const page = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`;
    this.#events.send(escapeLineBreaks(`{"type":"state_synced","state":${stateJson},"messages":${messages}${page}}`));
  }

  onRecord(record: SessionRecord): void {
    const { event } = record;
    // An agent may change to another folder and take its clients along.
    const folder = event.type === 'state_changed' ? event.state['cwd'] : undefined;
    if (typeof folder === 'string' && !mayOpen(this.identity.grant, folder)) {
      this.#rejectSession(new Refusal('session_not_found', 'Session not found: it is in another folder now'));
      return;
    }
    this.services.metrics.onRecordSent();
    this.#events.publish(record);
  }

  sendPrivate(event: AgentEvent): void {
    this.#send(event);
  }

  onAgentLost(reason: string): void {
    this.close({ code: closeCodes.agentFailed, reason: 'error', message: reason, error: 'internal' });
  }

  close({ code, reason, message, error, retryAfterMs }: CloseReason): void {
    if (this.#isClosed) return;
    const more = retryAfterMs === undefined ? {} : { retryAfterMs };
    if (reason === 'error')
      this.#events.sendFinal({ type: 'server_error', error: message, ...(error ? { code: error } : {}) });
    this.#events.sendFinal({ type: 'server_disconnected', reason, message, code, ...more });
    this.#handleClose(code);
    this.#socket.close(code, message);
  }

  #handleClose(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#inbox.close();
    this.#events.close();
    void this.#handle?.close();
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

  #send(event: AgentEvent): void {
    this.#events.send(escapeLineBreaks(JSON.stringify(event)));
  }

  /** Reads on unless too much is in flight or unread. */
  #updateReading(): void {
    if (!this.#isClosed)
      this.#socket.setReading(
        this.#inbox.heldCount <= MAX_IN_FLIGHT_PER_CLIENT && this.#events.backlog <= MAX_UNREAD_RESPONSES,
      );
  }

  #handleLine({ inbound, verdict }: InboundLine): void {
    if (inbound.kind === 'command') this.#handleCommand(inbound, verdict);
    else if (inbound.kind === 'frame') this.#handleFrame(inbound.frame);
    else {
      if ('malformed' in inbound && inbound.malformed) this.#handleMalformedFrame(inbound.malformed);
      if (inbound.kind === 'refused') this.#handleInvalid(inbound, verdict);
    }
  }

  #closeForFlood(): void {
    const error = 'overloaded';
    this.close({ code: closeCodes.tooManyCommands, reason: 'error', message: 'Too many commands', error });
  }

  #handleFrame(frame: Frame): void {
    if (this.#maySend(frame.type)) this.#handle?.sendFrame(frame);
  }

  #handleMalformedFrame(frame: MalformedFrame): void {
    if (this.#maySend(frame.name)) this.#handle?.sendMalformedFrame(frame);
  }

  #maySend(type: Frame['type']): boolean {
    const { grant } = this.identity;
    return permits(grant, type) && this.services.authority.isValid(grant);
  }

  #handleInvalid(
    { id, command, refusal: parseRefusal }: Extract<Inbound, { kind: 'refused' }>,
    verdict: 'ok' | 'refuse',
  ): void {
    const refusal = this.#isForbidden(command) ? permissionDenied(command as CommandName) : parseRefusal;
    const respond = () => {
      this.#events.send(escapeLineBreaks(AgentResponse.refusal(command, refusal).toText(id)));
      // Clients that match responses by id would miss a response without one.
      if (id === undefined) this.#send({ type: 'server_error', error: refusal.message, code: refusal.code });
    };
    if (verdict === 'refuse' || this.#inFlight >= MAX_IN_FLIGHT_PER_CLIENT) respond();
    else this.#afterAgentResponses(respond);
  }

  /** Responds after all pending responses of the agent. */
  #afterAgentResponses(respond: () => void): void {
    this.#inFlight++;
    this.handle.send({ type: 'ping' }, () => {
      this.#inFlight--;
      respond();
    });
  }

  #isForbidden(command: string): boolean {
    return Object.hasOwn(commandRows, command) && !permits(this.identity.grant, command as CommandName);
  }

  #handleCommand({ name, id, params }: Extract<Inbound, { kind: 'command' }>, verdict: 'ok' | 'refuse'): void {
    const request = { ...params, type: name, id } as CommandRequest;
    const { grant } = this.identity;
    const { inFlight } = this.services;
    this.#inFlight++;
    const isTooMany = inFlight.add(grant) || this.#inFlight > MAX_IN_FLIGHT_PER_CLIENT;
    const onResponse = (response: AgentResponse) => {
      inFlight.remove(grant);
      this.#inFlight--;
      this.services.metrics.onResponse(name, response.success);
      this.#audit(name, response);
      this.#events.send(escapeLineBreaks(this.#redacted(name, response).toText(id)));
      this.#updateReading();
    };
    const reject = (refusal: Refusal) => onResponse(AgentResponse.refusal(name, refusal));
    if (!permits(grant, name) || !this.services.authority.isValid(grant)) reject(permissionDenied(name));
    else if (verdict === 'refuse' || isTooMany) {
      reject(new Refusal('overloaded', 'Too many commands at once'));
    } else {
      const run = () =>
        void this.#runCommand(request, onResponse).catch((error: unknown) => reject(Refusal.from(error)));
      if (BARRIER_LANES.has(commandRows[name].lane)) this.#moveBarrier.run(run);
      else run();
    }
  }

  async #runCommand(request: CommandRequest, onResponse: (response: AgentResponse) => void): Promise<void> {
    // The cast is safe: the table pairs each name with its parameters, which were validated.
    const handler = serverCommands[request.type] as ServerCommandHandler | undefined;
    if (handler) await handler(request, this, onResponse);
    else this.handle.send(request, onResponse);
  }

  #audit(name: CommandName, response: AgentResponse): void {
    if (permits(viewOnly(this.identity.grant), name)) return;
    const outcome = response.success ? 'ok' : (response.record()['code'] as Refusal['code']);
    this.services.audit.record({ action: name, ...this.identity, sessionId: this.sessionId, outcome });
  }

  /** Removes fields that this client may not see. */
  #redacted(name: CommandName, response: AgentResponse): AgentResponse {
    if (this.isAdmin || !response.success || !containsModels(name)) return response;
    return AgentResponse.from(name === 'set_model' ? redactModel(response) : withoutAddresses(response.record()));
  }

  #redactedForm({ event }: SessionRecord) {
    if (this.isAdmin || event.type !== 'state_changed') return undefined;
    return { name: 'without addresses', make: () => withoutAddresses(event) };
  }
}

const viewOnly = (grant: Grant): Grant => ({ ...grant, scopes: new Set(['view']) });

/** The model is the whole of `data`. */
const redactModel = (response: AgentResponse) => ({ ...response.record(), data: withoutAddresses(response.data()) });

function closeCodeFor({ code }: Refusal): CloseCode {
  if (code === 'session_not_found' || code === 'not_a_session') return closeCodes.sessionNotFound;
  if (code === 'permission_denied') return closeCodes.denied;
  if (code === 'invalid_params') return closeCodes.badParameters;
  if (code === 'session_in_use') return closeCodes.sessionInUse;
  if (code === 'overloaded') return closeCodes.overloaded;
  return closeCodes.agentFailed;
}
