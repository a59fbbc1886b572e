import type { AgentMessage, ContentBlock } from '../../protocol/generated/vocabulary.ts';
import { modelMessages } from '../context/model-messages.ts';

// Tool results and arguments are truncated to this length.
const MAX_RESULT_LENGTH = 2000;

const SEPARATOR = '\n\n';

// Room for the truncation notice.
const NOTICE_LENGTH = 60;

/** Renders a conversation as texts for a summariser, each at most `maxLength` long. */
export function recordsOf(messages: readonly AgentMessage[], maxLength: number): string[] {
  const records: string[] = [];
  let record = '';
  for (const paragraph of modelMessages(messages).flatMap(paragraphs)) {
    const added = paragraph.length > maxLength ? truncate(paragraph, maxLength - NOTICE_LENGTH) : paragraph;
    const isFull = record !== '' && record.length + SEPARATOR.length + added.length > maxLength;
    if (isFull) records.push(record);
    record = record === '' || isFull ? added : record + SEPARATOR + added;
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
