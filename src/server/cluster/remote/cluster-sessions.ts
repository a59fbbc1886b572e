import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../../../protocol/errors.ts';
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
import type { LogOwnership } from '../log/log-ownership.ts';
import { isSameWriter } from '../log/log-record.ts';
import type { NodeIdentity } from '../names.ts';
import type { Place, Placement } from '../nodes/placement.ts';
import type { Channel, ChannelMessage, Channels } from './node-channel.ts';
import { ReceivedRecipients, type RecipientFields } from './recipient-lists.ts';
import { ReceivedRecords, RemoteHandle, refusalFrom } from './remote-handle.ts';

// A session may change its owner while a client opens it.
const MAX_OPEN_TRIES = 8;

// The delay before a session is opened again that was in use for a moment.
const REOPEN_DELAY_MS = 100;

interface ClusterSessionsOptions {
  /** The name of this node. */
  readonly name: () => string;
  readonly local: LocalSessions;
  readonly ownership: Pick<LogOwnership, 'positionOf'>;
  readonly placement: Placement;
  readonly channels: Channels;
  readonly onError: (error: unknown) => void;
}

/** The sessions of all nodes: those of this node, and handles to those that other nodes serve. */
export class ClusterSessions implements Sessions {
  readonly #options: ClusterSessionsOptions;
  readonly #handles = new Map<number, { readonly handle: RemoteHandle; readonly channel: Channel }>();
  readonly #replies = new Map<
    number,
    { readonly channel: Channel; readonly reply: (message: ChannelMessage) => void }
  >();
  readonly #records = new ReceivedRecords();
  readonly #recipients = new WeakMap<Channel, ReceivedRecipients>();
  #ids = 0;

  constructor(options: ClusterSessionsOptions) {
    this.#options = options;
  }

  /** The clients of this node in sessions of others. */
  get handleCount(): number {
    return this.#handles.size;
  }

  async open(target: SessionTarget, subscriber: Subscriber): Promise<SessionHandle> {
    const { placement, name } = this.#options;
    const full = new Set<string>();
    let firstRefusal: unknown;
    for (let tries = 1; ; tries++) {
      const place = await placement.find(target, full);
      if (place.isPrepared && !place.node) await placement.prepare(target);
      try {
        return await this.#openAt(place, { target, subscriber });
      } catch (error) {
        const { code } = Refusal.from(error);
        const node = place.node?.name ?? name();
        const isHeld = code === 'session_in_use' && !place.isPrepared;
        const isExpected = isHeld || (code === 'overloaded' && !full.has(node));
        // The owner may have changed or died since.
        const isOver = !isExpected && isSameNode(place.node, (await placement.find(target, full)).node);
        if (code === 'overloaded') firstRefusal ??= error;
        if (tries === MAX_OPEN_TRIES || isOver) throw firstRefusal ?? error;
        if (code === 'overloaded') full.add(node);
        else if (isHeld) await delay(REOPEN_DELAY_MS);
      }
    }
  }

  #openAt(
    { node, isPrepared }: Place,
    { target, subscriber }: { target: SessionTarget; subscriber: Subscriber },
  ): Promise<SessionHandle> {
    if (!node) return this.#options.local.open(named(target), subscriber);
    return this.#openRemote(node, { target, subscriber, isPrepared });
  }

  async prewarm(target: SessionTarget, access: Access): Promise<void> {
    const { node, isPrepared } = await this.#options.placement.find(target);
    // The client that connects waits for the folder.
    if (isPrepared) return;
    if (node) await this.#request(node, { target: named(target), prewarm: access });
    else await this.#options.local.prewarm(named(target), access);
  }

  async fetch(target: SessionTarget, handle: SessionHandle): Promise<boolean> {
    const owner = await this.#ownerElsewhere(target.id);
    // The node of a remote agent fetches the session for it.
    if (handle instanceof RemoteHandle) return !owner || isSameWriter(owner, handle.node);
    return !owner && this.#options.local.fetch(target);
  }

  async adopt(target: SessionTarget): Promise<void> {
    const { local, ownership } = this.#options;
    // A node that serves a client of another one has adopted it already.
    if (target.kind === 'stored' && !(await ownership.positionOf(target.id)).lastNode) await local.adopt(target);
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

  async request(
    target: SessionTarget,
    request: CommandRequest,
    options = { startsAgent: false },
  ): Promise<AgentResponse | undefined> {
    const { local } = this.#options;
    const owner = options.startsAgent ? await this.#nodeFor(target) : await this.#ownerElsewhere(target.id);
    if (!owner) return local.request(named(target), request, options);
    const text = await this.#request(owner, { target: named(target), request, options });
    return typeof text === 'string' ? AgentResponse.parse(text)?.response : undefined;
  }

  /** The node that serves the session, or should; undefined for this node. */
  async #nodeFor(target: SessionTarget): Promise<NodeIdentity | undefined> {
    const { node, isPrepared } = await this.#options.placement.find(target);
    if (!isPrepared) return node;
    throw new Refusal('session_in_use', `The folder of the session is not prepared: ${target.id}`);
  }

  async release(target: SessionTarget, stop?: StopExtent): Promise<boolean> {
    const owner = await this.#ownerElsewhere(target.id);
    return owner
      ? (await this.#request(owner, { target: named(target), stop })) === true
      : this.#options.local.release(named(target), stop);
  }

  /** Handles a message of a node that serves a session to clients of this one. */
  handle(message: ChannelMessage, channel: Channel): void {
    if (message.k === 'reply') this.#replies.get(Number(message['r']))?.reply(message);
    else if (message.k !== 'record') this.#receive(Number(message['to']), message);
    else for (const id of this.#recipientsOf(message, channel)) this.#receive(id, message);
  }

  /** A malformed event of an agent must not keep the others from theirs. */
  #receive(id: number, message: ChannelMessage): void {
    try {
      this.#handles.get(id)?.handle.receive(message);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #recipientsOf(record: ChannelMessage, channel: Channel): readonly number[] {
    const received = this.#recipients.get(channel) ?? new ReceivedRecipients();
    this.#recipients.set(channel, received);
    return received.of(record as RecipientFields);
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
    return local.find(sessionId) ? undefined : (await ownership.positionOf(sessionId)).owner;
  }

  async #openRemote(
    owner: NodeIdentity,
    { target, subscriber, isPrepared }: { target: SessionTarget; subscriber: Subscriber; isPrepared: boolean },
  ): Promise<SessionHandle> {
    const id = ++this.#ids;
    const channel = this.#options.channels.to(owner);
    const onClosed = () => void this.#handles.delete(id);
    const handle = new RemoteHandle(id, { channel, subscriber, target, records: this.#records, onClosed });
    this.#handles.set(id, { handle, channel });
    try {
      await handle.open(named(target), isPrepared);
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

const isSameNode = (one: NodeIdentity | undefined, other: NodeIdentity | undefined) =>
  one === other || (one !== undefined && other !== undefined && isSameWriter(one, other));
