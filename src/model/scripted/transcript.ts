import type {
  ContentBlock,
  ImageContent,
  ToolResultMessage,
  UserMessage,
} from '../../protocol/generated/vocabulary.ts';
import type { ModelMessage } from '../request.ts';

/** The prompt that the model must respond to, and the progress since. */
export interface PromptState {
  readonly text: string;
  readonly images: readonly ImageContent[];
  /** How many assistant messages since the prompt called tools. */
  readonly turnsTaken: number;
  /** The tool results after the last assistant message. */
  readonly results: readonly ToolResultMessage[];
}

export function promptStateIn(messages: readonly ModelMessage[]): PromptState {
  const promptIndex = messages.findLastIndex((message) => message.role === 'user');
  const since = messages.slice(promptIndex + 1);
  const lastAssistant = since.findLastIndex((message) => message.role === 'assistant');
  const content = lastUser(messages)?.content ?? [];
  return {
    text: textOf(content),
    images: typeof content === 'string' ? [] : content.filter((block) => block.type === 'image'),
    turnsTaken: since.filter(callsTools).length,
    results: since.slice(lastAssistant + 1).filter((message) => message.role === 'toolResult'),
  };
}

export const lastUserText = (messages: readonly ModelMessage[]): string => textOf(lastUser(messages)?.content ?? []);

/** The text of a message, without its images. */
export const textOf = (content: string | readonly ContentBlock[]): string =>
  typeof content === 'string'
    ? content
    : content
        .filter((block) => block.type === 'text')
        .map((block) => block.text)
        .join('\n');

const lastUser = (messages: readonly ModelMessage[]): UserMessage | undefined =>
  messages.findLast((message) => message.role === 'user');

const callsTools = (message: ModelMessage): boolean =>
  message.role === 'assistant' && message.content.some((block) => block.type === 'toolCall');
