import type { AgentMessage, ContentBlock } from '../../protocol/generated/vocabulary.ts';
import { modelMessages } from '../model-messages.ts';

/** How much of the result of a tool goes into a summary. */
const MAX_RESULT = 2000;

/** A conversation as a text to be read, not to be continued. */
export const recordOf = (messages: readonly AgentMessage[]): string =>
  modelMessages(messages).flatMap(paragraphs).join('\n\n');

function paragraphs(message: ReturnType<typeof modelMessages>[number]): string[] {
  switch (message.role) {
    case 'user':
      return [`[User]: ${typeof message.content === 'string' ? message.content : textOf(message.content)}`];
    case 'toolResult':
      return [`[Tool result]: ${shortened(textOf(message.content))}`];
    case 'assistant':
      return message.content.flatMap((block) => {
        if (block.type === 'text') return block.text.trim() === '' ? [] : [`[Assistant]: ${block.text}`];
        if (block.type === 'toolCall') return [`[Tool call]: ${block.name}(${JSON.stringify(block.arguments)})`];
        return [];
      });
    default:
      return message satisfies never;
  }
}

const textOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n');

function shortened(text: string): string {
  if (text.length <= MAX_RESULT) return text;
  return `${text.slice(0, MAX_RESULT)}\n[… ${text.length - MAX_RESULT} more characters]`;
}
