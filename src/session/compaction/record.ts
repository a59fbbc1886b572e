import type { AgentMessage, ContentBlock } from '../../protocol/generated/vocabulary.ts';
import { modelMessages } from '../context/model-messages.ts';

// Tool results and arguments are truncated to this length.
const MAX_RESULT_LENGTH = 2000;

const SEPARATOR = '\n\n';

// Room for the truncation notice.
const NOTICE_BYTES = 60;

/** Renders a conversation as texts for a summariser, each of at most `maxBytes`. */
export function recordsOf(messages: readonly AgentMessage[], maxBytes: number): string[] {
  const records: string[] = [];
  let record = '';
  let bytes = 0;
  for (const paragraph of modelMessages(messages).flatMap(paragraphs)) {
    const added = truncateBytes(paragraph, maxBytes);
    const addedBytes = Buffer.byteLength(added);
    const isFull = record !== '' && bytes + SEPARATOR.length + addedBytes > maxBytes;
    if (isFull) records.push(record);
    const isFirst = record === '' || isFull;
    record = isFirst ? added : record + SEPARATOR + added;
    bytes = isFirst ? addedBytes : bytes + SEPARATOR.length + addedBytes;
  }
  return [...records, record];
}

function paragraphs(message: ReturnType<typeof modelMessages>[number]): string[] {
  switch (message.role) {
    case 'user':
      return [`[User]: ${typeof message.content === 'string' ? message.content : textOf(message.content)}`];
    case 'toolResult':
      return [`[Tool result]: ${truncate(textOf(message.content), MAX_RESULT_LENGTH)}`];
    case 'assistant':
      return message.content.flatMap((block) => {
        if (block.type === 'text') return block.text.trim() === '' ? [] : [`[Assistant]: ${block.text}`];
        if (block.type !== 'toolCall') return [];
        return [`[Tool call]: ${block.name}(${truncate(JSON.stringify(block.arguments), MAX_RESULT_LENGTH)})`];
      });
    default:
      return message satisfies never;
  }
}

const textOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n');

function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength)}\n[… ${text.length - maxLength} more characters]`;
}

function truncateBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = Math.max(0, maxBytes - NOTICE_BYTES);
  // Not between the bytes of a character.
  while (end > 0 && isContinuation(bytes[end])) end--;
  return truncate(text, bytes.toString('utf8', 0, end).length);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
