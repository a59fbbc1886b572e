import { Refusal } from '../protocol/errors.ts';
import type {
  ImageContent,
  QueuedItem,
  QueueMode,
  QueueUpdateEvent,
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { deliveredQueueIds } from './delivered.ts';
import type { UserInput } from './hooks.ts';
import { parseInput, userMessage } from './input.ts';
import type { Transcript } from './transcript.ts';

export const MAX_QUEUED = 1000;

/** The custom entries in which a queue survives a crash. */
const QUEUE_TYPE = 'tau:queue';

export type QueueKind = QueuedItem['kind'];

export interface QueuedMessage {
  readonly id: string;
  readonly kind: QueueKind;
  readonly text: string;
  readonly images: readonly ImageContent[];
  readonly clientMessageId?: string | undefined;
}

/** A queued message that has become part of the conversation. */
interface DeliveredMessage {
  readonly message: UserMessage;
  readonly clientMessageId: string | undefined;
}

type QueueChange =
  | { op: 'add'; item: QueuedMessage }
  | { op: 'edit'; id: string; text: string }
  | { op: 'remove'; ids: string[] };

/**
 * Messages that wait for their turn. Each change is stored before it counts; delivery is told by the user entry
 * itself, so that after a crash a message is either delivered or queued, never both and never neither.
 */
export class MessageQueue {
  readonly #transcript: Transcript;
  readonly #onChange: (update: QueueUpdateEvent) => void;
  #items: QueuedMessage[];
  /** On their way into the conversation: too late to take back or to change. */
  readonly #claimed = new Set<string>();

  constructor(transcript: Transcript, onChange: (update: QueueUpdateEvent) => void) {
    this.#transcript = transcript;
    this.#onChange = onChange;
    this.#items = restore(transcript);
  }

  get length(): number {
    return this.#items.length;
  }

  has(kind: QueueKind): boolean {
    return this.#items.some((item) => item.kind === kind);
  }

  findByClientId(clientMessageId: string): QueuedMessage | undefined {
    return this.#items.find((item) => item.clientMessageId === clientMessageId);
  }

  add(kind: QueueKind, { text, images }: UserInput, clientMessageId: string | undefined): QueuedMessage {
    if (this.#items.length >= MAX_QUEUED) throw new Refusal('overloaded', `The queue is full (${MAX_QUEUED} messages)`);
    const item: QueuedMessage = { id: newUuid().slice(0, 8), kind, text, images, clientMessageId };
    this.#store({ op: 'add', item });
    this.#change([...this.#items, item]);
    return item;
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

  /** Sets aside what is due; nobody can withdraw it between now and its delivery. */
  claim(kind: QueueKind, mode: QueueMode): () => DeliveredMessage[] {
    const pending = this.#items.filter((item) => item.kind === kind);
    const due = mode === 'all' ? pending : pending.slice(0, 1);
    for (const { id } of due) this.#claimed.add(id);
    return () => this.#deliver(due);
  }

  /** What was set aside and not delivered waits again: the run that wanted it has ended. */
  releaseClaims(): void {
    this.#claimed.clear();
  }

  /** Stores each as a user message and answers those. */
  #deliver(due: readonly QueuedMessage[]): DeliveredMessage[] {
    const delivered: DeliveredMessage[] = [];
    try {
      for (const item of due) {
        const message = userMessage(item);
        this.#transcript.add(message, { clientMessageId: item.clientMessageId, queueId: item.id });
        this.#items = this.#items.filter(({ id }) => id !== item.id);
        delivered.push({ message, clientMessageId: item.clientMessageId });
      }
    } finally {
      for (const { id } of due) this.#claimed.delete(id);
      if (due.length > 0) this.#change(this.#items);
    }
    return delivered;
  }

  /** The queue as clients are told of it. */
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

  #find(id: string): QueuedMessage {
    const item = this.#items.find((other) => other.id === id);
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

/**
 * What was queued in this session, on whichever branch, and neither delivered nor taken back. Entries copied from
 * another one do not count.
 */
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
