import { noUsage } from '../../../src/model/draft.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  Model,
  ToolResultMessage,
  UserMessage,
} from '../../../src/protocol/generated/vocabulary.ts';

export const image: ContentBlock = { type: 'image', data: 'aW1n', mimeType: 'image/png' };

export const userMessage = (content: UserMessage['content']): UserMessage => ({ role: 'user', content, timestamp: 0 });

/** An assistant message of this model. */
export const assistantMessage = (
  { api, provider, id }: Pick<Model, 'api' | 'provider' | 'id'>,
  ...content: AssistantBlock[]
): AssistantMessage => ({
  role: 'assistant',
  content,
  api,
  provider,
  model: id,
  usage: noUsage(),
  stopReason: 'stop',
  timestamp: 0,
});

export const toolResult = (toolCallId: string, ...content: ContentBlock[]): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content,
  isError: false,
  timestamp: 0,
});

export const textBlock = (text: string) => ({ type: 'text' as const, text });

export const toolCall = (id: string, own: { thoughtSignature?: string } = {}): AssistantBlock => ({
  type: 'toolCall',
  id,
  name: 'read',
  arguments: { path: 'a' },
  ...own,
});
