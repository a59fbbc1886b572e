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
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import type { MalformedFrame, Inbound } from '../../wire/inbound.ts';
import { type Grant, mayOpen } from '../auth/grant.ts';
import { permissionDenied, permits } from '../auth/permission.ts';
import { Answer } from '../hosting/answer.ts';
import type { SessionRecord } from '../hosting/session-record.ts';
import type { Greeting, Handle, Listener, Request, Snapshot, Target, Wish } from '../sessions.ts';
import { Inbox, type Letter } from './inbox.ts';
import { tellsOfModels, withoutAddresses } from './model-privacy.ts';
import { Outlet } from './outlet.ts';
import type { Parameters } from './parameters.ts';
import { type ServerCommand, serverCommands } from './server-commands.ts';
import type { GatewayServices } from './services.ts';
import { Turns } from './turns.ts';
import type { Wire } from './wire.ts';

/** Commands of one client that may wait for an answer. */
export const MAX_UNANSWERED = 256;

/** Answers that a client may leave unread before no more commands are taken from it. */
const MAX_UNREAD = 16 * 1024 * 1024;

/** Of these commands the next has to find what the one before it did. Others are answered wherever the client is. */
const TAKES_TURNS: ReadonlySet<Lane> = new Set(['session', 'bash']);

/** Who a client is. */
export interface Visitor {
  readonly grant: Grant;
  readonly address: string;
}

interface Farewell {
  readonly code: CloseCode;
  readonly reason: ServerDisconnectedEvent['reason'];
  readonly message: string;
  /** What kind of error it is, if it is one of those that commands have. */
  readonly error?: ErrorCode;
  readonly retryAfterMs?: number;
}

/** One client of the server: what it sends is checked and goes to its session, and it is told what happens there. */
export class Client implements Listener {
  ui: readonly string[] | undefined;
  entries: boolean;
  heartbeatMs = 0;
  /** Whether it wants built-in slash commands. */
  builtins = false;
  /** The tools it runs: they come along to other sessions. */
  hostTools: readonly HostTool[] | undefined;
  readonly visitor: Visitor;
  readonly services: GatewayServices;
  readonly #wire: Wire;
  readonly #outlet: Outlet;
  readonly #inbox: Inbox;
  readonly #wish: Wish;
  #handle: Handle | undefined;
  readonly #turns = new Turns();
  /** The session that it is about to be in. */
  #entering: string | undefined;
  #unanswered = 0;
  #isOver = false;

  constructor(
    wire: Wire,
    visitor: Visitor,
    { stream, legacyNames, entries, ui, cursor, tail }: Parameters,
    services: GatewayServices,
  ) {
    this.#wire = wire;
    this.visitor = visitor;
    this.services = services;
    this.ui = ui;
    this.entries = entries;
    this.#wish = { cursor, tail };
    const dialect: Dialect = { ...defaultDialect, stream, legacyNames, hookErrors: true };
    this.#outlet = new Outlet(wire, dialect, {
      form: (record) => this.#formOf(record),
      onOverflow: () =>
        this.close({ code: closeCodes.tooSlow, reason: 'timeout', message: 'The client reads too slowly' }),
      onRoom: () => this.#pace(),
    });
    this.#inbox = new Inbox({ take: (letter) => this.#take(letter), tooMuch: () => this.#tooMuch() });
    wire.onMessage((bytes) => {
      this.#inbox.receive(bytes);
      this.#pace();
    });
    wire.onClose((code) => this.#left(code));
  }

  get isCumulative(): boolean {
    return this.#outlet.dialect.stream === 'cumulative';
  }

  /** What it sends has to wait; where that is much, nothing more is read, no sign of life either. */
  get isHeld(): boolean {
    return this.#inbox.isHeld;
  }

  get canAnswer(): boolean {
    return permits(this.visitor.grant, 'extension_ui_response');
  }

  get titles(): boolean {
    return this.services.titles;
  }

  get isAdmin(): boolean {
    return this.visitor.grant.scopes.has('admin');
  }

  get dialect(): Dialect {
    return this.#outlet.dialect;
  }

  set dialect(dialect: Dialect) {
    this.#outlet.dialect = dialect;
  }

  get sessionId(): string | undefined {
    return this.#handle?.sessionId;
  }

  /** The session that it keeps alive, or is about to. */
  get occupied(): string | undefined {
    return this.#entering ?? this.sessionId;
  }

  /** Brings the client into its first session. What it sends meanwhile waits. */
  async begin(find: () => Target): Promise<void> {
    try {
      await this.#go(find(), this.#wish, () => {});
      this.services.audit.note({ what: 'connect', ...this.visitor, sessionId: this.sessionId, outcome: 'ok' });
      this.#arrived();
    } catch (error) {
      this.#fail(Refusal.from(error));
    }
  }

  /** Goes over to another session. When that cannot be, it stays where it is. `opened`: before it is told of it. */
  async enter(target: Target, opened: () => void): Promise<void> {
    await this.#go(target, { tail: this.#wish.tail }, opened);
    this.#arrived();
  }

  async #go(target: Target, wish: Wish, opened: () => void): Promise<void> {
    const { sessions, isGreedy } = this.services;
    if (!this.isAdmin && isGreedy(this, target.id)) throw new Refusal('overloaded', 'Too many sessions of one token');
    this.#entering = target.id;
    const handle = await sessions.open(target, this);
    this.#entering = undefined;
    const before = this.#handle;
    this.#inbox.hold();
    if (!this.#isOver) await before?.close({ toAnother: before.sessionId !== handle.sessionId });
    if (this.#isOver) {
      void handle.close();
      throw new Error('The client has left');
    }
    this.#handle = handle;
    opened();
    await handle.attach(wish);
    const { hostTools: tools } = this;
    if (this.#isOver) void handle.close();
    else if (tools) await new Promise<unknown>((done) => handle.send({ type: 'set_host_tools', tools }, done));
  }

  #arrived(): void {
    this.#inbox.release();
    this.#pace();
  }

  /** Does something during which what the client wants of a session waits. */
  alone(work: () => Promise<void>): Promise<void> {
    return this.#turns.alone(work);
  }

  /** The agent of the session the client is in. */
  get handle(): Handle {
    if (!this.#handle) throw new Refusal('internal', 'There is no session');
    return this.#handle;
  }

  connected({ sessionId, sessionFile, epoch, seq, resume }: Greeting): void {
    this.services.metrics.connected(resume);
    const place = { sessionFile: sessionFile ?? null, sessionId };
    const { pingMs } = this.services;
    this.#send({ type: 'server_connected', ...place, seq, epoch, ...(resume ? { resume } : {}), pingMs });
  }

  synced({ state, messages, cursor }: Snapshot): void {
    const known = JSON.stringify(this.isAdmin ? state : withoutAddresses({ state }).state);
    const page = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`;
    this.#outlet.send(escapeLineBreaks(`{"type":"state_synced","state":${known},"messages":${messages}${page}}`));
  }

  hear(record: SessionRecord): void {
    const { event } = record;
    // An agent may go elsewhere by itself, and take everybody along.
    const folder = event.type === 'state_changed' ? event.state['cwd'] : undefined;
    if (typeof folder === 'string' && !mayOpen(this.visitor.grant, folder)) {
      this.#fail(new Refusal('session_not_found', 'Session not found: it is in another folder now'));
      return;
    }
    this.services.metrics.told();
    this.#outlet.hear(record);
  }

  tell(event: AgentEvent): void {
    this.#send(event);
  }

  lost(reason: string): void {
    this.close({ code: closeCodes.agentFailed, reason: 'error', message: reason, error: 'internal' });
  }

  /** Says why, and closes. */
  close({ code, reason, message, error, retryAfterMs }: Farewell): void {
    if (this.#isOver) return;
    const more = retryAfterMs === undefined ? {} : { retryAfterMs };
    if (reason === 'error')
      this.#outlet.last({ type: 'server_error', error: message, ...(error ? { code: error } : {}) });
    this.#outlet.last({ type: 'server_disconnected', reason, message, code, ...more });
    this.#left(code);
    this.#wire.close(code, message);
  }

  #left(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inbox.close();
    this.#outlet.close();
    void this.#handle?.close();
    this.services.audit.note({
      what: 'close',
      ...this.visitor,
      sessionId: this.sessionId,
      outcome: 'ok',
      closeCode: code,
    });
    this.services.left(this);
  }

  /** There is no session for it. */
  #fail(refusal: Refusal): void {
    if (this.#isOver) return;
    this.services.audit.note({ what: 'refused', ...this.visitor, outcome: refusal.code });
    this.close({ code: codeFor(refusal), reason: 'error', message: refusal.message, error: refusal.code });
  }

  #send(event: AgentEvent): void {
    this.#outlet.send(escapeLineBreaks(JSON.stringify(event)));
  }

  /** Reads on, unless there is too much to do already. */
  #pace(): void {
    if (!this.#isOver)
      this.#wire.setReading(this.#inbox.waiting <= MAX_UNANSWERED && this.#outlet.backlog <= MAX_UNREAD);
  }

  #take({ inbound, verdict }: Letter): void {
    if (inbound.kind === 'command') this.#command(inbound, verdict);
    else if (inbound.kind === 'frame') this.#frame(inbound.frame);
    else {
      if ('malformed' in inbound && inbound.malformed) this.#brokenFrame(inbound.malformed);
      if (inbound.kind === 'refused') this.#misunderstood(inbound, verdict);
    }
  }

  #tooMuch(): void {
    const error = 'overloaded';
    this.close({ code: closeCodes.tooManyCommands, reason: 'error', message: 'Too many commands', error });
  }

  #frame(frame: Frame): void {
    if (this.#maySend(frame.type)) this.#handle?.frame(frame);
  }

  #brokenFrame(frame: MalformedFrame): void {
    if (this.#maySend(frame.name)) this.#handle?.brokenFrame(frame);
  }

  #maySend(type: Frame['type']): boolean {
    const { grant } = this.visitor;
    return permits(grant, type) && this.services.authority.holds(grant);
  }

  #misunderstood(
    { id, command, refusal: known }: Extract<Inbound, { kind: 'refused' }>,
    verdict: 'ok' | 'refuse',
  ): void {
    const refusal = this.#mayNot(command) ? permissionDenied(command as CommandName) : known;
    const tell = () => {
      this.#outlet.send(escapeLineBreaks(Answer.refusal(command, refusal).text(id)));
      // Clients that know their requests by their ids alone would hear nothing of it.
      if (id === undefined) this.#send({ type: 'server_error', error: refusal.message, code: refusal.code });
    };
    if (verdict === 'refuse' || this.#unanswered >= MAX_UNANSWERED) tell();
    else this.#inTurn(tell);
  }

  /** Says something in its turn among the answers of the agent. */
  #inTurn(tell: () => void): void {
    this.#unanswered++;
    this.handle.send({ type: 'ping' }, () => {
      this.#unanswered--;
      tell();
    });
  }

  #mayNot(command: string): boolean {
    return Object.hasOwn(commandRows, command) && !permits(this.visitor.grant, command as CommandName);
  }

  #command({ name, id, params }: Extract<Inbound, { kind: 'command' }>, verdict: 'ok' | 'refuse'): void {
    const request = { ...params, type: name, id } as Request;
    const { grant } = this.visitor;
    const { unanswered } = this.services;
    this.#unanswered++;
    const isTooMany = unanswered.begin(grant) || this.#unanswered > MAX_UNANSWERED;
    const answered = (answer: Answer) => {
      unanswered.end(grant);
      this.#unanswered--;
      this.services.metrics.answered(name, answer.success);
      this.#note(name, answer);
      this.#outlet.send(escapeLineBreaks(this.#guarded(name, answer).text(id)));
      this.#pace();
    };
    const refuse = (refusal: Refusal) => answered(Answer.refusal(name, refusal));
    if (!permits(grant, name) || !this.services.authority.holds(grant)) refuse(permissionDenied(name));
    else if (verdict === 'refuse' || isTooMany) {
      refuse(new Refusal('overloaded', 'Too many commands at once'));
    } else {
      const perform = () =>
        void this.#perform(request, answered).catch((error: unknown) => refuse(Refusal.from(error)));
      if (TAKES_TURNS.has(commandRows[name].lane)) this.#turns.take(perform);
      else perform();
    }
  }

  async #perform(request: Request, answered: (answer: Answer) => void): Promise<void> {
    // One cast: the table pairs each name with its own parameters, and they were checked.
    const own = serverCommands[request.type] as ServerCommand | undefined;
    if (own) await own(request, this, answered);
    else this.handle.send(request, answered);
  }

  #note(name: CommandName, answer: Answer): void {
    if (permits(viewOnly(this.visitor.grant), name)) return;
    const outcome = answer.success ? 'ok' : (answer.record()['code'] as Refusal['code']);
    this.services.audit.note({ what: name, ...this.visitor, sessionId: this.sessionId, outcome });
  }

  /** Without what this client may not know. */
  #guarded(name: CommandName, answer: Answer): Answer {
    if (this.isAdmin || !answer.success || !tellsOfModels(name)) return answer;
    return Answer.of(name === 'set_model' ? withModel(answer) : withoutAddresses(answer.record()));
  }

  #formOf({ event }: SessionRecord) {
    if (this.isAdmin || event.type !== 'state_changed') return undefined;
    return { name: 'without addresses', make: () => withoutAddresses(event) };
  }
}

const viewOnly = (grant: Grant): Grant => ({ ...grant, scopes: new Set(['view']) });

/** The model is the whole of `data`. */
const withModel = (answer: Answer) => ({ ...answer.record(), data: withoutAddresses(answer.data()) });

function codeFor({ code }: Refusal): CloseCode {
  if (code === 'session_not_found' || code === 'not_a_session') return closeCodes.sessionNotFound;
  if (code === 'permission_denied') return closeCodes.denied;
  if (code === 'invalid_params') return closeCodes.badParameters;
  if (code === 'session_in_use') return closeCodes.sessionInUse;
  if (code === 'overloaded') return closeCodes.overloaded;
  return closeCodes.agentFailed;
}
