import { type ErrorCode, Refusal } from '../../../protocol/errors.ts';
import type { AgentEvent, AssistantMessage, Frame } from '../../../protocol/generated/vocabulary.ts';
import { StreamingMessage } from '../../../wire/assistant-message.ts';
import type { MalformedFrame } from '../../../wire/inbound.ts';
import { escapeLineBreaks } from '../../../wire/json-lines.ts';
import { AgentResponse } from '../../agent-response.ts';
import { SessionRecord } from '../../session-record.ts';
import type {
  AttachOptions,
  AttachResult,
  CommandRequest,
  SessionHandle,
  SessionTarget,
  Snapshot,
  Subscriber,
} from '../../sessions.ts';
import type { NodeIdentity } from '../names.ts';
import { PageDownloads } from './export-transfer.ts';
import type { Channel, ChannelMessage } from './node-channel.ts';
import type { SubscriberMethod } from './remote-subscriber.ts';
import { traitsOf } from './subscriber-traits.ts';

interface Awaited {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface PendingRequest {
  readonly request: CommandRequest;
  readonly onResponse: (response: AgentResponse) => void;
}

/** Builds the record of a message once for all clients of this node that receive it. */
export class ReceivedRecords {
  readonly #records = new WeakMap<ChannelMessage, SessionRecord>();

  of(message: ChannelMessage): SessionRecord {
    const record = this.#records.get(message) ?? recordFrom(message);
    this.#records.set(message, record);
    return record;
  }
}

function recordFrom({ event, seq, message }: ChannelMessage, folded?: AssistantMessage): SessionRecord {
  return new SessionRecord(event as AgentEvent, {
    ...(typeof seq === 'number' ? { seq } : {}),
    text: escapeLineBreaks(JSON.stringify(event)),
    messageSoFar: (message as AssistantMessage | undefined) ?? folded,
  });
}

/** The connection of a client of this node to a session that another node serves. */
export class RemoteHandle implements SessionHandle {
  sessionId: string;
  cwd: string;
  readonly #id: number;
  readonly #channel: Channel;
  readonly #subscriber: Subscriber;
  readonly #records: ReceivedRecords;
  readonly #onClosed: () => void;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #downloads = new PageDownloads((message) => this.#post(message));
  #requests = 0;
  #step: Awaited | undefined;
  /** The assistant message as far as it has arrived, for a client whose updates repeat it. */
  #streaming: StreamingMessage | undefined;
  #isClosed = false;

  constructor(
    id: number,
    {
      channel,
      subscriber,
      target,
      records,
      onClosed,
    }: {
      channel: Channel;
      subscriber: Subscriber;
      target: SessionTarget;
      records: ReceivedRecords;
      onClosed: () => void;
    },
  ) {
    this.#id = id;
    this.#channel = channel;
    this.#subscriber = subscriber;
    this.#records = records;
    this.#onClosed = onClosed;
    this.sessionId = target.id;
    this.cwd = target.cwd;
  }

  /** The node that serves the session. */
  get node(): NodeIdentity {
    return this.#channel.node;
  }

  /** Opens the session on the other node, which may have to prepare its folder. */
  open(target: SessionTarget, isPrepared: boolean): Promise<void> {
    return this.#await({ k: 'open', target, isPrepared, traits: traitsOf(this.#subscriber) });
  }

  attach(options: AttachOptions): Promise<void> {
    return this.#await({ k: 'attach', options });
  }

  send(request: CommandRequest, onResponse: (response: AgentResponse) => void): void {
    if (this.#isClosed) {
      onResponse(AgentResponse.refusal(request.type, GONE));
      return;
    }
    const r = ++this.#requests;
    this.#pending.set(r, { request, onResponse });
    this.#post({ k: 'send', r, request });
  }

  sendFrame(frame: Frame): void {
    this.#post({ k: 'frame', frame });
  }

  sendMalformedFrame(frame: MalformedFrame): void {
    this.#post({ k: 'malformed', frame });
  }

  updatePreferences(): void {
    this.#post({ k: 'preferences', traits: traitsOf(this.#subscriber) });
  }

  replayOutput(): void {
    this.#post({ k: 'replay' });
  }

  followEntries(): void {
    this.#post({ k: 'preferences', traits: traitsOf(this.#subscriber) });
    this.#post({ k: 'follow' });
  }

  continueReads(): void {
    this.#post({ k: 'reads', traits: traitsOf(this.#subscriber) });
  }

  async close({ isSessionSwitch = false } = {}): Promise<void> {
    if (this.#isClosed) return;
    this.#step?.reject(new Error('The client has left'));
    const closed = this.#await({ k: 'close', isSessionSwitch });
    this.#isClosed = true;
    await closed.catch(() => {});
    this.#end();
  }

  /** Handles a message of the other node for this client. */
  receive(message: ChannelMessage): void {
    const { k } = message;
    if (k === 'record') this.#handleRecord(message);
    else if (k === 'call') this.#handleCall(message['method'] as SubscriberMethod, message['value']);
    else if (k === 'response') this.#handleResponse(Number(message['r']), String(message['text']));
    else if (k === 'piece') this.#downloads.receive(message);
    else if (k === 'closed') this.#step?.resolve();
    // The response to a step that `close` has ended.
    else if (this.#isClosed) return;
    else if (k === 'failed') this.#step?.reject(refusalFrom(message));
    else {
      this.sessionId = String(message['sessionId']);
      this.cwd = String(message['cwd']);
      this.#step?.resolve();
    }
  }

  /**
   * The other node is gone: the client connects again, and finds the session elsewhere. Its connection closes before
   * its requests fail, because they may be stored: it sends them again, with their message ids. An export stores nothing
   * and is not sent again, so that it fails before.
   */
  onLost(): void {
    this.#failAll((request) => request.type === 'export_html');
    const wasClosed = this.#isClosed;
    this.#isClosed = true;
    this.#step?.reject(new Refusal(GONE.code, GONE.message));
    if (!wasClosed) this.#subscriber.onSessionMoved();
    this.#failAll(() => true);
    this.#end();
  }

  #failAll(isIncluded: (request: CommandRequest) => boolean): void {
    for (const [r, { request }] of this.#pending)
      if (isIncluded(request)) this.#respond(r, AgentResponse.refusal(request.type, GONE));
  }

  #handleRecord(message: ChannelMessage): void {
    if (this.#isClosed) return;
    const record = this.#records.of(message);
    const folded = this.#subscriber.isCumulative ? this.#fold(record.event) : undefined;
    const isOwn = folded !== undefined && record.messageSoFar === undefined;
    this.#subscriber.onRecord(isOwn ? recordFrom(message, folded) : record);
  }

  #fold(event: AgentEvent): AssistantMessage | undefined {
    if (event.type === 'message_update') return this.#streaming?.apply(event);
    if (event.type === 'message_start' && event.message.role === 'assistant')
      this.#streaming = new StreamingMessage(event.message);
    else if (event.type === 'message_end' || event.type === 'agent_end') this.#streaming = undefined;
    return undefined;
  }

  #handleCall(method: SubscriberMethod, value: unknown): void {
    // An answer counts although its client has left.
    if (this.#isClosed && method !== 'onAnswer') return;
    if (method === 'onAttached')
      this.#subscriber.onAttached({
        sessionFile: undefined,
        resume: undefined,
        ...(value as Omit<AttachResult, 'sessionFile' | 'resume'>),
      });
    else if (method === 'onSnapshot')
      this.#subscriber.onSnapshot({ cursor: undefined, ...(value as Omit<Snapshot, 'cursor'>) });
    else (this.#subscriber[method] as (argument: unknown) => void)(value);
  }

  #handleResponse(r: number, text: string): void {
    const { request } = this.#pending.get(r) ?? {};
    if (!request) return;
    const { response } = AgentResponse.parse(text) ?? {};
    const path = response?.success && request.type === 'export_html' ? request['outputPath'] : undefined;
    if (typeof path === 'string')
      void this.#downloads.save(r, path).then(
        () => this.#respond(r, AgentResponse.success(request.type, { path })),
        (error: unknown) => this.#respond(r, AgentResponse.refusal(request.type, Refusal.from(error))),
      );
    else this.#respond(r, response ?? AgentResponse.refusal(request.type, GONE));
  }

  #respond(r: number, response: AgentResponse): void {
    const pending = this.#pending.get(r);
    this.#pending.delete(r);
    pending?.onResponse(response);
  }

  #await(message: ChannelMessage): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#step = { resolve, reject };
      this.#post(message);
    });
  }

  #post(message: ChannelMessage): void {
    if (!this.#isClosed) this.#channel.send({ ...message, h: this.#id });
  }

  #end(): void {
    this.#isClosed = true;
    this.#downloads.cancel(new Refusal(GONE.code, GONE.message));
    this.#onClosed();
  }
}

const GONE = { code: 'internal', message: 'The node that serves the session is gone' } as const;

export const refusalFrom = ({ code, message }: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal(code as ErrorCode, String(message));
