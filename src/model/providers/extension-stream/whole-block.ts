import { isObject, type JsonObject } from '../../../store/json-file.ts';
import { malformedStream } from './event-fields.ts';

/** What a block is called in the names of events. */
export type BlockKind = 'text' | 'thinking' | 'toolcall';

const kinds: Readonly<Record<string, BlockKind>> = { text: 'text', thinking: 'thinking', toolCall: 'toolcall' };

/** What kind of block something is. */
export function blockKind(block: unknown): BlockKind {
  const type = isObject(block) ? block['type'] : undefined;
  const kind = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (!kind) throw malformedStream('a block that is neither text, nor a thought, nor a tool call');
  return kind;
}

/** The block of this kind that a message has there; empty where it has another, or none. */
export function blockAt(kind: BlockKind, message: unknown, index: number): JsonObject {
  const content = isObject(message) ? message['content'] : undefined;
  const block: unknown = Array.isArray(content) ? content[index] : undefined;
  return isObject(block) && typeof block['type'] === 'string' && kinds[block['type']] === kind ? block : {};
}

/** A block as the event says that ends it: what it holds stands in the event, and its seal in the message. */
export function endedBlock(kind: BlockKind, event: JsonObject, index: number): JsonObject {
  const { partial, content, toolCall } = event;
  const written = blockAt(kind, partial, index);
  if (kind === 'toolcall') return isObject(toolCall) ? toolCall : written;
  return typeof content === 'string' ? { ...written, [kind]: content } : written;
}
