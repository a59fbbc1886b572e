import { Refusal } from '../../../protocol/errors.ts';
import type { Frame, Moved } from '../../../protocol/generated/vocabulary.ts';
import type { MalformedFrame } from '../../../wire/inbound.ts';
import type { AgentResponse } from '../../agent-response.ts';
import type {
  AttachOptions,
  CommandRequest,
  SessionHandle,
  Sessions,
  SessionTarget,
  StopExtent,
} from '../../sessions.ts';
import type { Channel, ChannelMessage } from './node-channel.ts';
import { RecordBundler, RemoteSubscriber } from './remote-subscriber.ts';
import type { SubscriberTraits } from './subscriber-traits.ts';

interface Attached {
  readonly subscriber: RemoteSubscriber;
  readonly handle: SessionHandle;
}

/** Serves the sessions of this node to clients of other nodes. */
export class SessionServer {
  readonly #sessions: Sessions;
  readonly #attached = new WeakMap<Channel, Map<number, Attached>>();
  readonly #bundlers = new WeakMap<Channel, RecordBundler>();

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Handles a message of another node; returns whether it was one for a server. */
  handle(message: ChannelMessage, channel: Channel): boolean {
    const { k } = message;
    const id = Number(message['h']);
    const one = this.#of(channel).get(id);
    if (k === 'open') void this.#open(message, { id, channel });
    else if (k === 'request') void this.#request(message, channel);
    else if (k === 'close') void this.#close(id, channel, message['isSessionSwitch'] === true);
    else if (!HANDLE_MESSAGES.has(k)) return false;
    else if (one) this.#forHandle(one, message, { id, channel });
    return true;
  }

  /** The other node is gone: its clients leave. */
  onClose(channel: Channel): void {
    const attached = this.#of(channel);
    this.#attached.delete(channel);
    for (const { handle } of attached.values()) void handle.close();
  }

  #forHandle({ handle, subscriber }: Attached, message: ChannelMessage, { id, channel }: Client): void {
    const { k } = message;
    if (k === 'attach') void this.#attach(handle, message['options'] as AttachOptions, { id, channel });
    else if (k === 'send') this.#send(handle, message, { id, channel });
    else if (k === 'frame') handle.sendFrame(message['frame'] as Frame);
    else if (k === 'malformed') handle.sendMalformedFrame(message['frame'] as MalformedFrame);
    else if (k === 'replay') handle.replayOutput();
    else if (k === 'follow') handle.followEntries();
    else {
      subscriber.traits = message['traits'] as SubscriberTraits;
      if (k === 'preferences') handle.updatePreferences();
      else handle.continueReads();
    }
  }

  async #open(message: ChannelMessage, { id, channel }: Client): Promise<void> {
    const bundler = this.#bundlers.get(channel) ?? new RecordBundler(channel);
    this.#bundlers.set(channel, bundler);
    const subscriber = new RemoteSubscriber(id, { traits: message['traits'] as SubscriberTraits, channel, bundler });
    try {
      const handle = await this.#sessions.open(message['target'] as SessionTarget, subscriber);
      if (channel.isClosed) {
        void handle.close();
        return;
      }
      this.#of(channel).set(id, { handle, subscriber });
      channel.send({ k: 'opened', to: id, sessionId: handle.sessionId, cwd: handle.cwd });
    } catch (error) {
      channel.send({ k: 'failed', to: id, ...refusalFields(error) });
    }
  }

  async #attach(handle: SessionHandle, options: AttachOptions, { id, channel }: Client): Promise<void> {
    try {
      await handle.attach(options);
      channel.send({ k: 'attached', to: id, sessionId: handle.sessionId, cwd: handle.cwd });
    } catch (error) {
      channel.send({ k: 'failed', to: id, ...refusalFields(error) });
    }
  }

  #send(handle: SessionHandle, message: ChannelMessage, { id, channel }: Client): void {
    const request = message['request'] as CommandRequest;
    const respond = (response: AgentResponse) => {
      this.#bundlers.get(channel)?.flush();
      channel.send({ k: 'response', to: id, r: message['r'], text: response.toText(RESPONSE_ID) });
    };
    handle.send(request, (response) => {
      if (request['detached'] !== true || !response.success) respond(response);
      else void this.#adopt(handle, response).finally(() => respond(response));
    });
  }

  /** The agent created a session beside its own: it must be in the log before a client receives its name. */
  async #adopt(handle: SessionHandle, response: AgentResponse): Promise<void> {
    const { cancelled, sessionId: id, sessionFile: path } = response.data() as Partial<Moved>;
    if (cancelled === false && id !== undefined && path !== undefined)
      await this.#sessions.adopt({ kind: 'stored', id, path, cwd: handle.cwd });
  }

  async #request(message: ChannelMessage, channel: Channel): Promise<void> {
    const target = message['target'] as SessionTarget;
    const reply = (value: unknown) => channel.send({ k: 'reply', r: message['r'], value });
    try {
      if (message['request'] === undefined)
        reply(await this.#sessions.release(target, message['stop'] as StopExtent | undefined));
      else reply((await this.#sessions.request(target, message['request'] as CommandRequest))?.toText(RESPONSE_ID));
    } catch (error) {
      channel.send({ k: 'reply', r: message['r'], failure: refusalFields(error) });
    }
  }

  async #close(id: number, channel: Channel, isSessionSwitch: boolean): Promise<void> {
    const attached = this.#of(channel).get(id);
    this.#of(channel).delete(id);
    await attached?.handle.close({ isSessionSwitch });
    channel.send({ k: 'closed', to: id });
  }

  #of(channel: Channel): Map<number, Attached> {
    const known = this.#attached.get(channel) ?? new Map<number, Attached>();
    this.#attached.set(channel, known);
    return known;
  }
}

interface Client {
  readonly id: number;
  readonly channel: Channel;
}

/** Stands for the id of the client in a response between nodes. */
export const RESPONSE_ID = '0';

const HANDLE_MESSAGES: ReadonlySet<string> = new Set([
  'attach',
  'send',
  'frame',
  'malformed',
  'replay',
  'follow',
  'preferences',
  'reads',
]);

const refusalFields = (error: unknown) => {
  const { message, code } = Refusal.from(error);
  return { message, code };
};
