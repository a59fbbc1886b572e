import { AgentResponse } from '../../agent-response.ts';
import type { LocalSessions } from '../../hosting/local-sessions.ts';
import type {
  Access,
  CommandRequest,
  SessionHandle,
  Sessions,
  SessionTarget,
  StopExtent,
  Subscriber,
} from '../../sessions.ts';
import type { LogOwnership } from '../log-ownership.ts';
import type { NodeIdentity } from '../names.ts';
import type { Channel, ChannelMessage, Channels } from './node-channel.ts';
import { RemoteHandle, refusalFrom } from './remote-handle.ts';

// A session may change its owner while a client opens it.
const MAX_OPEN_TRIES = 5;

interface ClusterSessionsOptions {
  readonly local: LocalSessions;
  readonly ownership: LogOwnership;
  readonly channels: Channels;
}

/** The sessions of all nodes: those of this node, and handles to those that other nodes serve. */
export class ClusterSessions implements Sessions {
  readonly #options: ClusterSessionsOptions;
  readonly #handles = new Map<number, { readonly handle: RemoteHandle; readonly channel: Channel }>();
  readonly #replies = new Map<
    number,
    { readonly channel: Channel; readonly reply: (message: ChannelMessage) => void }
  >();
  #ids = 0;

  constructor(options: ClusterSessionsOptions) {
    this.#options = options;
  }

  async open(target: SessionTarget, subscriber: Subscriber): Promise<SessionHandle> {
    const { local } = this.#options;
    for (let tries = 1; ; tries++) {
      const owner = await this.#ownerElsewhere(target.id);
      try {
        return owner
          ? await this.#openRemote(owner, { target, subscriber })
          : await local.open(named(target), subscriber);
      } catch (error) {
        // The owner may have changed or died since.
        if (tries === MAX_OPEN_TRIES || (owner && (await this.#ownerElsewhere(target.id)) === owner)) throw error;
        if (!owner && !(await this.#ownerElsewhere(target.id))) throw error;
      }
    }
  }

  async prewarm(target: SessionTarget, access: Access): Promise<void> {
    if (!(await this.#ownerElsewhere(target.id))) await this.#options.local.prewarm(named(target), access);
  }

  async fetch(target: SessionTarget): Promise<boolean> {
    return !(await this.#ownerElsewhere(target.id)) && this.#options.local.fetch(target);
  }

  async adopt(target: SessionTarget): Promise<void> {
    await this.#options.local.adopt(target);
  }

  statusOf(sessionId: string) {
    return this.#options.local.statusOf(sessionId);
  }

  fileOf(sessionId: string): string | undefined {
    return this.#options.local.fileOf(sessionId);
  }

  folderOf(sessionId: string): string | undefined {
    return this.#options.local.folderOf(sessionId);
  }

  async request(target: SessionTarget, request: CommandRequest): Promise<AgentResponse | undefined> {
    const owner = await this.#ownerElsewhere(target.id);
    if (!owner) return this.#options.local.request(named(target), request);
    const text = await this.#request(owner, { target: named(target), request });
    return typeof text === 'string' ? AgentResponse.parse(text)?.response : undefined;
  }

  async release(target: SessionTarget, stop?: StopExtent): Promise<boolean> {
    const owner = await this.#ownerElsewhere(target.id);
    return owner
      ? (await this.#request(owner, { target: named(target), stop })) === true
      : this.#options.local.release(named(target), stop);
  }

  /** Handles a message of a node that serves a session to clients of this one. */
  handle(message: ChannelMessage): void {
    if (message.k === 'reply') this.#replies.get(Number(message['r']))?.reply(message);
    else for (const id of [message['to']].flat()) this.#handles.get(Number(id))?.handle.receive(message);
  }

  /** Another node is gone. */
  onClose(channel: Channel): void {
    for (const one of [...this.#handles.values()]) if (one.channel === channel) one.handle.onLost();
    for (const one of [...this.#replies.values()])
      if (one.channel === channel)
        one.reply({ k: 'reply', failure: { code: 'internal', message: 'The node that serves the session is gone' } });
  }

  async #ownerElsewhere(sessionId: string): Promise<NodeIdentity | undefined> {
    const { local, ownership } = this.#options;
    return local.find(sessionId) ? undefined : ownership.ownerElsewhere(sessionId);
  }

  async #openRemote(
    owner: NodeIdentity,
    { target, subscriber }: { target: SessionTarget; subscriber: Subscriber },
  ): Promise<SessionHandle> {
    const id = ++this.#ids;
    const channel = this.#options.channels.to(owner);
    const onClosed = () => void this.#handles.delete(id);
    const handle = new RemoteHandle(id, { channel, subscriber, target, onClosed });
    this.#handles.set(id, { handle, channel });
    try {
      await handle.open(named(target));
      return handle;
    } catch (error) {
      this.#handles.delete(id);
      throw error;
    }
  }

  #request(owner: NodeIdentity, message: object): Promise<unknown> {
    const r = ++this.#ids;
    const channel = this.#options.channels.to(owner);
    return new Promise((resolve, reject) => {
      const reply = (received: ChannelMessage) => {
        this.#replies.delete(r);
        const failure = received['failure'] as Record<string, unknown> | undefined;
        if (failure) reject(refusalFrom(failure));
        else resolve(received['value']);
      };
      this.#replies.set(r, { channel, reply });
      channel.send({ k: 'request', r, ...message });
    });
  }
}

/** A session by its id: paths differ from node to node. */
const named = ({ id, cwd }: SessionTarget): SessionTarget => ({ kind: 'new', id, cwd });
