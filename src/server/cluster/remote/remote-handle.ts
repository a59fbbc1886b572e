import { type ErrorCode, Refusal } from '../../../protocol/errors.ts';
import type { AgentEvent, AssistantMessage, Frame } from '../../../protocol/generated/vocabulary.ts';
import { StreamingMessage } from '../../../wire/assistant-message.ts';
import type { MalformedFrame } from '../../../wire/inbound.ts';
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
import type { Channel, ChannelMessage } from './node-channel.ts';
import type { SubscriberMethod } from './remote-subscriber.ts';
import { traitsOf } from './subscriber-traits.ts';

interface Awaited {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The connection of a client of this node to a session that another node serves. */
export class RemoteHandle implements SessionHandle {
  sessionId: string;
  cwd: string;
  readonly #id: number;
  readonly #channel: Channel;
  readonly #subscriber: Subscriber;
  readonly #onClosed: () => void;
  readonly #responses = new Map<number, (text: string) => void>();
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
      onClosed,
    }: { channel: Channel; subscriber: Subscriber; target: SessionTarget; onClosed: () => void },
  ) {
    this.#id = id;
    this.#channel = channel;
    this.#subscriber = subscriber;
    this.#onClosed = onClosed;
    this.sessionId = target.id;
    this.cwd = target.cwd;
  }

  /** Opens the session on the other node. */
  open(target: SessionTarget): Promise<void> {
    return this.#await({ k: 'open', target, traits: traitsOf(this.#subscriber) });
  }

  attach(options: AttachOptions): Promise<void> {
    return this.#await({ k: 'attach', options });
  }

  send(request: CommandRequest, onResponse: (response: AgentResponse) => void): void {
    const fail = () => onResponse(AgentResponse.refusal(request.type, GONE));
    if (this.#isClosed) {
      fail();
      return;
    }
    const r = ++this.#requests;
    this.#responses.set(r, (text) => {
      const parsed = AgentResponse.parse(text);
      if (parsed) onResponse(parsed.response);
      else fail();
    });
    this.#post({ k: 'send', r, request });
  }

  sendFrame(frame: Frame): boolean {
    this.#post({ k: 'frame', frame });
    return !this.#isClosed;
  }

  sendMalformedFrame(frame: MalformedFrame): boolean {
    this.#post({ k: 'malformed', frame });
    return !this.#isClosed;
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
    else if (k === 'failed') this.#step?.reject(refusalFrom(message));
    else {
      if (k !== 'closed') {
        this.sessionId = String(message['sessionId']);
        this.cwd = String(message['cwd']);
      }
      this.#step?.resolve();
    }
  }

  /** The other node is gone: the client connects again, and finds the session elsewhere. */
  onLost(): void {
    this.#step?.reject(new Refusal(GONE.code, GONE.message));
    for (const respond of this.#responses.values()) respond('');
    this.#responses.clear();
    if (!this.#isClosed) this.#subscriber.onSessionMoved();
    this.#end();
  }

  #handleRecord({ event: given, seq, message }: ChannelMessage): void {
    if (this.#isClosed) return;
    const event = given as AgentEvent;
    const folded = this.#subscriber.isCumulative ? this.#fold(event) : undefined;
    const messageSoFar = (message as AssistantMessage | undefined) ?? folded;
    this.#subscriber.onRecord(
      new SessionRecord(event, {
        ...(typeof seq === 'number' ? { seq } : {}),
        text: JSON.stringify(event),
        messageSoFar,
      }),
    );
  }

  #fold(event: AgentEvent): AssistantMessage | undefined {
    if (event.type === 'message_update') return this.#streaming?.apply(event);
    if (event.type === 'message_start' && event.message.role === 'assistant')
      this.#streaming = new StreamingMessage(event.message);
    else if (event.type === 'message_end' || event.type === 'agent_end') this.#streaming = undefined;
    return undefined;
  }

  #handleCall(method: SubscriberMethod, value: unknown): void {
    if (this.#isClosed) return;
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
    const respond = this.#responses.get(r);
    this.#responses.delete(r);
    respond?.(text);
  }

  #await(message: ChannelMessage): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#step = { resolve, reject };
      this.#post(message);
    }).finally(() => {
      this.#step = undefined;
    });
  }

  #post(message: ChannelMessage): void {
    if (!this.#isClosed) this.#channel.send({ ...message, h: this.#id });
  }

  #end(): void {
    this.#isClosed = true;
    this.#onClosed();
  }
}

const GONE = { code: 'internal', message: 'The node that serves the session is gone' } as const;

export const refusalFrom = ({ code, message }: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal(code as ErrorCode, String(message));
