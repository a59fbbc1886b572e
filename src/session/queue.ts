import { Refusal } from '../protocol/errors.ts';
import type {
  ImageContent,
  QueuedItem,
  QueueMode,
  QueueUpdateEvent,
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import type { Input } from './hooks.ts';
import { inputOf, userMessage } from './input.ts';
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

  withClientId(clientMessageId: string): QueuedMessage | undefined {
    return this.#items.find((item) => item.clientMessageId === clientMessageId);
  }

  add(kind: QueueKind, { text, images }: Input, clientMessageId: string | undefined): QueuedMessage {
    if (this.#items.length >= MAX_QUEUED) throw new Refusal('overloaded', `The queue is full (${MAX_QUEUED} messages)`);
    const item: QueuedMessage = { id: newUuid().slice(0, 8), kind, text, images, clientMessageId };
    this.#store({ op: 'add', item });
    this.#change([...this.#items, item]);
    return item;
  }

  edit(id: string, text: string): void {
    inputOf(text, this.#find(id).images);
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
    const { steering, followUp } = this.update();
    if (this.#items.length > 0) {
      this.#store({ op: 'remove', ids: this.#items.map(({ id }) => id) });
      this.#change([]);
    }
    return { steering, followUp };
  }

  /** Delivers what is due: stores each as a user message and answers those. */
  take(kind: QueueKind, mode: QueueMode): { message: UserMessage; clientMessageId: string | undefined }[] {
    const waiting = this.#items.filter((item) => item.kind === kind);
    const due = mode === 'all' ? waiting : waiting.slice(0, 1);
    if (due.length === 0) return [];
    const delivered: { message: UserMessage; clientMessageId: string | undefined }[] = [];
    try {
      for (const item of due) {
        const message = userMessage(item);
        this.#transcript.add(message, { clientMessageId: item.clientMessageId, queueId: item.id });
        this.#items = this.#items.filter((other) => other !== item);
        delivered.push({ message, clientMessageId: item.clientMessageId });
      }
    } finally {
      this.#change(this.#items);
    }
    return delivered;
  }

  /** The queue as clients are told of it. */
  update(): QueueUpdateEvent {
    const texts = (kind: QueueKind) => this.#items.filter((item) => item.kind === kind).map(({ text }) => text);
    return {
      type: 'queue_update',
      steering: texts('steer'),
      followUp: texts('followUp'),
      items: this.#items.map(({ id, kind, text }) => ({ id, kind, text })),
    };
  }

  #find(id: string): QueuedMessage {
    const item = this.#items.find((other) => other.id === id);
    if (!item) throw new Refusal('not_found', `No queued message ${id}`);
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

/** What was queued in this session and neither delivered nor taken back. Entries copied from another one do not count. */
function restore({ log }: Transcript): QueuedMessage[] {
  const changes: QueueChange[] = [];
  for (const node of log.named(QUEUE_TYPE)) {
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
  if (items.size > 0) for (const id of deliveredIn(log)) items.delete(id);
  return [...items.values()];
}

function* deliveredIn(log: Transcript['log']): Generator<string> {
  for (const entry of log.find('"queueId":"')) {
    if (entry.type === 'message' && entry.queueId !== undefined) yield entry.queueId;
  }
}
