import { Refusal } from '../../protocol/errors.ts';
import type {
  ApprovalMode,
  ImageContent,
  QueuedItem,
  QueueMode,
  QueueUpdateEvent,
  UserMessage,
} from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { UserInput } from '../hooks.ts';
import type { Transcript } from '../transcript.ts';
import { parseInput, userMessage } from './input.ts';

export const MAX_QUEUED = 1000;

// `customType` of the entries in which the queue survives a crash.
const QUEUE_TYPE = 'tau:queue';

export type QueueKind = QueuedItem['kind'];

export interface QueuedMessage {
  readonly id: string;
  readonly kind: QueueKind;
  readonly text: string;
  readonly images: readonly ImageContent[];
  readonly clientMessageId?: string | undefined;
  /** The loosest approval mode of a run with this message. */
  readonly approvalLimit?: ApprovalMode | undefined;
}

/** The fields of a queued message beside its text and images. */
export type QueuedOptions = Pick<QueuedMessage, 'clientMessageId' | 'approvalLimit'>;

// A queued message that was delivered to the conversation.
interface DeliveredMessage extends QueuedOptions {
  readonly message: UserMessage;
}

type QueueChange =
  | { op: 'add'; item: QueuedMessage }
  | { op: 'edit'; id: string; text: string }
  | { op: 'remove'; ids: string[] };

/**
 * Messages that wait for a run. Each change is stored before it takes effect; the user entry itself records delivery,
 * so that after a crash a message is either delivered or queued.
 */
export class MessageQueue {
  readonly #transcript: Transcript;
  readonly #onChange: (update: QueueUpdateEvent) => void;
  #items: QueuedMessage[];
  /** Being delivered: these can no longer be edited or withdrawn. */
  readonly #claimed = new Set<string>();
  /** Not due yet: no run takes these. */
  readonly #held = new Set<string>();

  constructor(transcript: Transcript, onChange: (update: QueueUpdateEvent) => void) {
    this.#transcript = transcript;
    this.#onChange = onChange;
    this.#items = restore(transcript);
  }

  get length(): number {
    return this.#items.length;
  }

  /** Whether a message of this kind is due. */
  has(kind: QueueKind): boolean {
    return this.#due(kind).length > 0;
  }

  get hasHeld(): boolean {
    return this.#items.some(({ id }) => this.#held.has(id));
  }

  get(id: string): QueuedMessage | undefined {
    return this.#items.find((item) => item.id === id);
  }

  findByClientId(clientMessageId: string): QueuedMessage | undefined {
    return this.#items.find((item) => item.clientMessageId === clientMessageId);
  }

  add(kind: QueueKind, { text, images }: UserInput, options: QueuedOptions = {}): QueuedMessage {
    if (this.#items.length >= MAX_QUEUED) throw new Refusal('overloaded', `The queue is full (${MAX_QUEUED} messages)`);
    const { clientMessageId, approvalLimit } = options;
    const item: QueuedMessage = { id: newUuid().slice(0, 8), kind, text, images, clientMessageId, approvalLimit };
    this.#store({ op: 'add', item });
    this.#change([...this.#items, item]);
    return item;
  }

  /** Keeps a message from every run until it is released or delivered. */
  hold(id: string): void {
    this.#held.add(id);
  }

  /** Makes a held message due, with this input in place of its own. */
  release(id: string, input: UserInput | undefined): void {
    this.#held.delete(id);
    const item = input && this.get(id);
    if (!item || item.text === input.text) return;
    const changed = { ...item, ...input };
    this.#store({ op: 'add', item: changed });
    this.#change(this.#items.map((other) => (other === item ? changed : other)));
  }

  /** Stores a held message as a user entry with this input. */
  deliverHeld(id: string, input: UserInput): UserMessage {
    const item = this.#find(id);
    const message = userMessage(input);
    this.#transcript.add(message, { clientMessageId: item.clientMessageId, queueId: id });
    this.#held.delete(id);
    this.#change(this.#items.filter((other) => other !== item));
    return message;
  }

  edit(id: string, text: string): void {
    parseInput(text, this.#find(id).images);
    this.#store({ op: 'edit', id, text });
    this.#change(this.#items.map((item) => (item.id === id ? { ...item, text } : item)));
  }

  remove(id: string): QueuedMessage {
    const item = this.#find(id);
    this.#store({ op: 'remove', ids: [id] });
    this.#change(this.#items.filter((other) => other !== item));
    return item;
  }

  clear(): { steering: string[]; followUp: string[] } {
    const unclaimed = this.#items.filter(({ id }) => !this.#claimed.has(id));
    if (unclaimed.length > 0) {
      this.#store({ op: 'remove', ids: unclaimed.map(({ id }) => id) });
      this.#change(this.#items.filter((item) => !unclaimed.includes(item)));
    }
    return { steering: textsOf(unclaimed, 'steer'), followUp: textsOf(unclaimed, 'followUp') };
  }

  /** Reserves the messages that are due; they cannot be withdrawn before the returned function delivers them. */
  claim(kind: QueueKind, mode: QueueMode): () => DeliveredMessage[] {
    const pending = this.#due(kind);
    const due = mode === 'all' ? pending : pending.slice(0, 1);
    for (const { id } of due) this.#claimed.add(id);
    return () => this.#deliver(due);
  }

  /** Returns reserved messages that were not delivered to the queue, when their run has ended. */
  releaseClaims(): void {
    this.#claimed.clear();
  }

  /** Stores each message as a user entry and returns it. */
  #deliver(due: readonly QueuedMessage[]): DeliveredMessage[] {
    const delivered: DeliveredMessage[] = [];
    try {
      for (const item of due) {
        const message = userMessage(item);
        this.#transcript.add(message, { clientMessageId: item.clientMessageId, queueId: item.id });
        this.#items = this.#items.filter(({ id }) => id !== item.id);
        delivered.push({ message, clientMessageId: item.clientMessageId, approvalLimit: item.approvalLimit });
      }
    } finally {
      for (const { id } of due) this.#claimed.delete(id);
      if (due.length > 0) this.#change(this.#items);
    }
    return delivered;
  }

  /** The `queue_update` event for the current queue. */
  update(): QueueUpdateEvent {
    return {
      type: 'queue_update',
      steering: textsOf(this.#items, 'steer'),
      followUp: textsOf(this.#items, 'followUp'),
      items: this.items,
    };
  }

  get items(): QueuedItem[] {
    return this.#items.map(({ id, kind, text }) => ({ id, kind, text }));
  }

  #due(kind: QueueKind): QueuedMessage[] {
    return this.#items.filter((item) => item.kind === kind && !this.#held.has(item.id));
  }

  #find(id: string): QueuedMessage {
    const item = this.get(id);
    if (!item || this.#claimed.has(id)) throw new Refusal('not_found', `No queued message ${id}`);
    return item;
  }

  #store(change: QueueChange): void {
    const data = { sessionId: this.#transcript.log.header.id, ...change };
    this.#transcript.append({ type: 'custom', customType: QUEUE_TYPE, data });
  }

  #change(items: QueuedMessage[]): void {
    this.#items = items;
    this.#onChange(this.update());
  }
}

const textsOf = (items: readonly QueuedMessage[], kind: QueueKind) =>
  items.filter((item) => item.kind === kind).map(({ text }) => text);

/** Restores the queue of this session from all branches. Entries copied from another session do not count. */
function restore({ log }: Transcript): QueuedMessage[] {
  const changes: QueueChange[] = [];
  for (const node of log.allNodesOfKind(QUEUE_TYPE)) {
    const entry = log.entry(node.id);
    const change =
      entry?.type === 'custom' ? (entry.data as (QueueChange & { sessionId: string }) | undefined) : undefined;
    if (change?.sessionId === log.header.id) changes.push(change);
  }
  const items = new Map<string, QueuedMessage>();
  for (const change of changes.reverse()) {
    const edited = change.op === 'edit' ? items.get(change.id) : undefined;
    if (change.op === 'add') items.set(change.item.id, change.item);
    else if (change.op === 'remove') for (const id of change.ids) items.delete(id);
    else if (edited) items.set(edited.id, { ...edited, text: change.text });
  }
  if (items.size > 0) for (const id of deliveredQueueIds(log)) items.delete(id);
  return [...items.values()];
}

/** Queue ids of messages that were delivered to the conversation. */
export function* deliveredQueueIds(log: SessionLog): Generator<string> {
  for (const entry of log.find('"queueId":"')) {
    if (entry.type === 'message' && entry.queueId !== undefined) yield entry.queueId;
  }
}
