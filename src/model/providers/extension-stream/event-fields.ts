import { isObject, type JsonObject } from '../../../protocol/json.ts';
import { ModelFailure } from '../../request.ts';

/** The failure for a malformed stream. */
export const malformedStream = (problem: string) =>
  new ModelFailure('model_error', `The stream of the provider holds ${problem}`);

/** The message of any thrown value. */
export function errorMessageOf(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message;
  return isNonEmpty(error) ? error : 'The provider failed without a word';
}

export const isNonEmpty = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A block's kind in event names. */
export type BlockKind = 'text' | 'thinking' | 'toolcall';

const kinds: Readonly<Record<string, BlockKind>> = { text: 'text', thinking: 'thinking', toolCall: 'toolcall' };

export function blockKind(block: unknown): BlockKind {
  const type = isObject(block) ? block['type'] : undefined;
  const kind = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (!kind) throw malformedStream('a block that is neither text, nor a thought, nor a tool call');
  return kind;
}

/** The block of this kind at an index of a message; empty if there is none. */
export function blockAt(kind: BlockKind, message: unknown, index: number): JsonObject {
  const content = isObject(message) ? message['content'] : undefined;
  const block: unknown = Array.isArray(content) ? content[index] : undefined;
  return isObject(block) && typeof block['type'] === 'string' && kinds[block['type']] === kind ? block : {};
}

/** The block that an end event closes: its content is in the event, its signature in the message. */
export function endedBlock(kind: BlockKind, event: JsonObject, index: number): JsonObject {
  const { partial, content, toolCall } = event;
  const written = blockAt(kind, partial, index);
  if (kind === 'toolcall') return isObject(toolCall) ? toolCall : written;
  return typeof content === 'string' ? { ...written, [kind]: content } : written;
}
