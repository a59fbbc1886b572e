import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  Model,
} from '../../../../protocol/generated/vocabulary.ts';
import { emptyAssistantMessage } from '../../../draft.ts';
import type { ModelMessage, ModelRequest, ToolSpec } from '../../../request.ts';

/** A model that thinks within a budget. */
export const claude: Model = {
  id: 'claude-sonnet-4-5',
  name: 'Claude',
  api: 'anthropic-messages',
  provider: 'anthropic',
  reasoning: true,
  input: ['text', 'image'],
  contextWindow: 200_000,
  maxTokens: 64_000,
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
};

export const anthropicRequest = (own: Partial<ModelRequest> = {}): ModelRequest => ({
  model: claude,
  thinkingLevel: 'off',
  systemPrompt: 'Be brief.',
  messages: [user('hi')],
  tools: [],
  signal: new AbortController().signal,
  ...own,
});

export const tool = (name: string): ToolSpec => ({
  name,
  description: `Does ${name}`,
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
});

export const user = (content: string | ContentBlock[]): ModelMessage => ({ role: 'user', content, timestamp: 1 });

/** A message of `claude`, unless overridden. */
export const assistant = (content: AssistantBlock[], own: Partial<AssistantMessage> = {}): ModelMessage => ({
  ...emptyAssistantMessage(claude),
  content,
  timestamp: 2,
  ...own,
});

export const call = (id: string, name = 'read'): AssistantBlock => ({
  type: 'toolCall',
  id,
  name,
  arguments: { path: id },
});

export const result = (toolCallId: string, content: string | ContentBlock[], isError = false): ModelMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  isError,
  timestamp: 3,
});

export const text = (content: string) => ({ type: 'text' as const, text: content });

export const picture = (mimeType = 'image/png') => ({ type: 'image' as const, data: 'iVBORw0KGgo=', mimeType });
