import { headers, type Msg, type Subscription } from '@nats-io/transport-node';
import { isObject } from '../../../protocol/json.ts';
import { LineReader, MAX_RECORD_BYTES } from '../../../wire/json-lines.ts';
import type { ClusterConnection } from '../connection.ts';
import { isSameWriter } from '../log/log-record.ts';
import { type NodeIdentity, nodeSubject } from '../names.ts';

// The largest piece of a message: the servers accept messages of 1 MiB.
const MAX_CHANNEL_PIECE = 512 * 1024;

// Bytes that another node may leave unacknowledged; beyond them pieces wait.
const MAX_UNACKNOWLEDGED = 8 * 1024 * 1024;

// Bytes that may wait for another node; beyond them the channel is closed.
const MAX_WAITING = 128 * 1024 * 1024;

const ACK_EVERY = 1024 * 1024;

const CHANNEL = 'channel';

/** A message between two nodes: a JSON value with a kind. */
export type ChannelMessage = { readonly k: string } & Readonly<Record<string, unknown>>;

interface ChannelCallbacks {
  readonly onMessage: (message: ChannelMessage, channel: Channel) => void;
  /** Pieces were lost, or the other node is gone: nothing more is sent or received. */
  readonly onClose: (channel: Channel) => void;
  /** A piece is missing; the channel closes. */
  readonly onGap?: ((from: NodeIdentity) => void) | undefined;
}

interface Piece {
  /** Counts the pieces of this direction, from 1. */
  readonly n: number;
  readonly bytes: Uint8Array;
}

/** Ordered messages between this node and another one. A lost piece closes it, because the NATS servers may drop some. */
export class Channel {
  readonly node: NodeIdentity;
  readonly #send: (piece: Piece) => void;
  readonly #callbacks: ChannelCallbacks;
  readonly #reader = new LineReader(MAX_RECORD_BYTES);
  #outgoing: string[] = [];
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #unacknowledged = 0;
  #sent = 0;
  #received = 0;
  #receivedBytes = 0;
  #isClosed = false;

  constructor(node: NodeIdentity, send: (piece: Piece) => void, callbacks: ChannelCallbacks) {
    this.node = node;
    this.#send = send;
    this.#callbacks = callbacks;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether it has received anything. */
  get hasReceived(): boolean {
    return this.#received > 0;
  }

  /** Messages of one turn of the event loop travel together. */
  send(message: ChannelMessage): void {
    if (this.#isClosed) return;
    this.#outgoing.push(`${JSON.stringify(message)}\n`);
    if (this.#outgoing.length === 1) setImmediate(() => this.#flush());
  }

  receive({ n, bytes }: Piece): void {
    if (this.#isClosed) return;
    if (n !== ++this.#received) {
      this.#callbacks.onGap?.(this.node);
      this.close();
      return;
    }
    this.#receivedBytes += bytes.length;
    for (const line of this.#reader.push(bytes)) {
      const message = 'text' in line ? parseMessage(line.text) : undefined;
      if (message) this.#handle(message);
      else this.close();
      if (this.#isClosed) return;
    }
    if (this.#receivedBytes < ACK_EVERY) return;
    this.send({ k: 'ack', bytes: this.#receivedBytes });
    this.#receivedBytes = 0;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = [];
    this.#callbacks.onClose(this);
  }

  #handle(message: ChannelMessage): void {
    if (message.k !== 'ack') this.#callbacks.onMessage(message, this);
    else {
      this.#unacknowledged -= Number(message['bytes']) || 0;
      this.#sendWaiting();
    }
  }

  #flush(): void {
    const bytes = Buffer.from(this.#outgoing.join(''));
    this.#outgoing = [];
    for (let start = 0; start < bytes.length; start += MAX_CHANNEL_PIECE) {
      const piece = bytes.subarray(start, start + MAX_CHANNEL_PIECE);
      this.#waiting.push(piece);
      this.#waitingBytes += piece.length;
    }
    this.#sendWaiting();
    if (this.#waitingBytes > MAX_WAITING) this.close();
  }

  #sendWaiting(): void {
    while (!this.#isClosed && this.#unacknowledged < MAX_UNACKNOWLEDGED) {
      const bytes = this.#waiting.shift();
      if (!bytes) return;
      this.#waitingBytes -= bytes.length;
      this.#unacknowledged += bytes.length;
      this.#send({ n: ++this.#sent, bytes });
    }
  }
}

/** Undefined for a malformed message. */
function parseMessage(text: string): ChannelMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isObject(message) && typeof message['k'] === 'string' ? (message as ChannelMessage) : undefined;
  } catch {
    return undefined;
  }
}

// How often the other nodes of open channels are probed, and how many probes without a listener close the channel.
const CHANNEL_PROBE_MS = 1000;
const MAX_SILENT_PROBES = 2;
const MAX_UNKNOWN_PROBES = 6;

interface ChannelsOptions extends ChannelCallbacks {
  readonly cluster: ClusterConnection;
  readonly identity: () => NodeIdentity;
  readonly probe: (node: NodeIdentity) => Promise<'alive' | 'silent' | 'unknown'>;
}

// In the place of the number of a piece: the sender has closed the channel.
const RESET = 0;

const FROM = 'Tau-From';
const NUMBER = 'Tau-Number';

/** The channels between this node and all others. */
export class Channels {
  readonly #options: ChannelsOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #failures = new WeakMap<Channel, { silent: number; unknown: number }>();
  readonly #timer: NodeJS.Timeout;
  #subscription: Subscription | undefined;

  constructor(options: ChannelsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#probeAll(), CHANNEL_PROBE_MS).unref();
  }

  /** Call at the begin of each life of this node. */
  listen(): void {
    const { cluster, identity } = this.#options;
    const callback = (_: Error | null, message: Msg) => this.#receive(message);
    this.#subscription = cluster.nats.subscribe(nodeSubject(identity(), CHANNEL), { callback });
  }

  /** The open channel to a node, or a new one. */
  to(node: NodeIdentity): Channel {
    const key = keyOf(node);
    const known = this.#channels.get(key);
    if (known && !known.isClosed) return known;
    const channel = new Channel(node, (piece) => this.#publish(node, piece), {
      onMessage: this.#options.onMessage,
      onGap: this.#options.onGap,
      onClose: (closed) => {
        this.#reset(node);
        if (this.#channels.get(key) === closed) this.#channels.delete(key);
        this.#options.onClose(closed);
      },
    });
    this.#channels.set(key, channel);
    return channel;
  }

  /** Closes all channels and accepts no more: this life of the node is over. */
  closeAll(): void {
    this.#subscription?.unsubscribe();
    for (const channel of [...this.#channels.values()]) channel.close();
  }

  end(): void {
    clearInterval(this.#timer);
    this.closeAll();
  }

  #publish(node: NodeIdentity, { n, bytes }: Piece): void {
    const { cluster, identity } = this.#options;
    // The connection accepts nothing more while this node ends.
    if (cluster.nats.isClosed() || cluster.nats.isDraining()) return;
    const { name, incarnation } = identity();
    const head = headers();
    head.set(FROM, `${name}.${incarnation}`);
    head.set(NUMBER, String(n));
    cluster.nats.publish(nodeSubject(node, CHANNEL), bytes, { headers: head });
  }

  #receive({ headers: head, data }: Msg): void {
    const [name = '', incarnation = ''] = head?.get(FROM).split('.') ?? [];
    const n = Number(head?.get(NUMBER));
    const node = { name, incarnation };
    const known = this.#channels.get(keyOf(node));
    if (n === RESET) known?.close();
    // A channel that is closed here is still open at the other node.
    else if (n !== 1 && !known) this.#reset(node);
    else {
      // The other node has begun a new channel.
      if (n === 1 && known?.hasReceived) known.close();
      this.to(node).receive({ n, bytes: data });
    }
  }

  /** Lets the other node close its channel to this one. */
  #reset(node: NodeIdentity): void {
    this.#publish(node, { n: RESET, bytes: new Uint8Array() });
  }

  /** All at once: a node that does not respond must not delay the probes of others beyond the next ones. */
  async #probeAll(): Promise<void> {
    await Promise.all([...this.#channels.values()].map((channel) => this.#probe(channel)));
  }

  async #probe(channel: Channel): Promise<void> {
    const outcome = isSameWriter(channel.node, this.#options.identity())
      ? 'alive'
      : await this.#options.probe(channel.node).catch(() => 'unknown' as const);
    const before = this.#failures.get(channel) ?? { silent: 0, unknown: 0 };
    const silent = outcome === 'silent' ? before.silent + 1 : 0;
    const unknown = outcome === 'unknown' ? before.unknown + 1 : 0;
    this.#failures.set(channel, { silent, unknown });
    if (silent >= MAX_SILENT_PROBES || unknown >= MAX_UNKNOWN_PROBES) channel.close();
  }
}

const keyOf = ({ name, incarnation }: NodeIdentity) => `${name}.${incarnation}`;
