import type { AgentMessage, ContentBlock } from '../../protocol/generated/vocabulary.ts';
import { modelMessages } from '../model-messages.ts';

/** How much of the result of a tool, and of what it was given, goes into a summary. */
const MAX_RESULT = 2000;

const BETWEEN = '\n\n';

/** What it takes to say that something was left out. */
const NOTICE_ROOM = 60;

/** A conversation as texts to be read one after another, not to be continued. None is longer than it may be. */
export function recordsOf(messages: readonly AgentMessage[], longest: number): string[] {
  const records: string[] = [];
  let record = '';
  for (const paragraph of modelMessages(messages).flatMap(paragraphs)) {
    const added = paragraph.length > longest ? shortened(paragraph, longest - NOTICE_ROOM) : paragraph;
    const isFull = record !== '' && record.length + BETWEEN.length + added.length > longest;
    if (isFull) records.push(record);
    record = record === '' || isFull ? added : record + BETWEEN + added;
  }
  return [...records, record];
}

function paragraphs(message: ReturnType<typeof modelMessages>[number]): string[] {
  switch (message.role) {
    case 'user':
      return [`[User]: ${typeof message.content === 'string' ? message.content : textOf(message.content)}`];
    case 'toolResult':
      return [`[Tool result]: ${shortened(textOf(message.content), MAX_RESULT)}`];
    case 'assistant':
      return message.content.flatMap((block) => {
        if (block.type === 'text') return block.text.trim() === '' ? [] : [`[Assistant]: ${block.text}`];
        if (block.type !== 'toolCall') return [];
        return [`[Tool call]: ${block.name}(${shortened(JSON.stringify(block.arguments), MAX_RESULT)})`];
      });
    default:
      return message satisfies never;
  }
}

const textOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n');

function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)}\n[… ${text.length - longest} more characters]`;
}
