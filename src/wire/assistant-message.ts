import type {
  AssistantBlock,
  AssistantMessage,
  AssistantMessageEvent,
  MessageUpdateEvent,
} from '../protocol/generated/vocabulary.ts';

/** Returns the assistant message after one more step. Neither argument changes, so that snapshots can be kept. */
export function applyStep(message: AssistantMessage, step: AssistantMessageEvent): AssistantMessage {
  switch (step.type) {
    case 'start':
      return message;
    case 'text_start':
      return withBlock(message, step.contentIndex, { type: 'text', text: '' });
    case 'thinking_start':
      return withBlock(message, step.contentIndex, { type: 'thinking', thinking: '' });
    case 'toolcall_start':
      return withBlock(message, step.contentIndex, {
        type: 'toolCall',
        id: step.id,
        name: step.toolName,
        arguments: {},
      });
    case 'text_delta':
    case 'thinking_delta':
      return appendDelta(message, step);
    case 'toolcall_delta':
      return message;
    case 'text_end':
      return withBlock(message, step.contentIndex, {
        ...blockAt(message, step.contentIndex, 'text'),
        text: step.content,
      });
    case 'thinking_end':
      return withBlock(message, step.contentIndex, {
        ...blockAt(message, step.contentIndex, 'thinking'),
        thinking: step.content,
      });
    case 'toolcall_end':
      return withBlock(message, step.contentIndex, step.toolCall);
    case 'done':
      return step.message ?? { ...message, stopReason: step.reason };
    case 'error':
      return step.error ?? { ...message, stopReason: step.reason };
    default:
      return step satisfies never;
  }
}

type TextDelta = Extract<AssistantMessageEvent, { type: 'text_delta' | 'thinking_delta' }>;

const emptyText = { type: 'text', text: '' } as const;
const emptyThinking = { type: 'thinking', thinking: '' } as const;

/** Merges two consecutive deltas of one block; undefined for any other pair. */
export function joinDeltas(before: MessageUpdateEvent, after: MessageUpdateEvent): MessageUpdateEvent | undefined {
  const first = before.assistantMessageEvent;
  const second = after.assistantMessageEvent;
  if (!('delta' in first && 'delta' in second)) return undefined;
  const { type, contentIndex } = first;
  if (type !== second.type || contentIndex !== second.contentIndex) return undefined;
  const step = { type, contentIndex, delta: first.delta + second.delta };
  const { message: _message, usage = before.usage, ...rest } = after;
  return { ...rest, assistantMessageEvent: step, usage };
}

/** The first step that a late subscriber receives may be a delta: it starts the block. */
function appendDelta(message: AssistantMessage, { type, contentIndex: index, delta }: TextDelta): AssistantMessage {
  const block = message.content[index] ?? (type === 'text_delta' ? emptyText : emptyThinking);
  if (block?.type === 'text') return withBlock(message, index, { ...block, text: block.text + delta });
  if (block?.type === 'thinking') return withBlock(message, index, { ...block, thinking: block.thinking + delta });
  return message;
}

/** An index beyond the end, or one that is no index, leaves the message unchanged. */
function withBlock(message: AssistantMessage, index: number, block: AssistantBlock): AssistantMessage {
  if (!Number.isInteger(index) || index < 0 || index > message.content.length) return message;
  const content = message.content.slice();
  content[index] = block;
  return { ...message, content };
}

function blockAt<T extends 'text' | 'thinking'>(message: AssistantMessage, index: number, type: T) {
  const block = message.content[index];
  return (block?.type === type ? block : { type }) as Extract<AssistantBlock, { type: T }>;
}

/** A step of a streaming message, and the message after it. */
export interface MessageStep {
  readonly update: MessageUpdateEvent;
  readonly snapshot: AssistantMessage;
}

/** A streaming assistant message that can be replayed: it keeps all steps, with the deltas of a block merged. */
export class StreamingMessage {
  /** The empty message of `message_start`. */
  readonly initial: AssistantMessage;
  readonly #updates: MessageUpdateEvent[] = [];
  #message: AssistantMessage;

  constructor(initial: AssistantMessage) {
    this.initial = initial;
    this.#message = initial;
  }

  /** Applies one more step and returns the message after it. */
  apply(update: MessageUpdateEvent): AssistantMessage {
    this.#message = applyStep(this.#message, update.assistantMessageEvent);
    const last = this.#updates.at(-1);
    const merged = last && joinDeltas(last, update);
    if (merged) this.#updates[this.#updates.length - 1] = merged;
    else this.#updates.push(update);
    return this.#message;
  }

  /** Yields the steps so far, for a subscriber that joins late. */
  *replay(): Generator<MessageStep> {
    let snapshot = this.initial;
    for (const update of this.#updates) {
      snapshot = applyStep(snapshot, update.assistantMessageEvent);
      yield { update, snapshot };
    }
  }
}
