import type {
  AgentMessage,
  AssistantBlock,
  AssistantMessage,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from '../../protocol/generated/vocabulary.ts';

/** Messages for tests. */
export const prompt = (text: string, timestamp = 1): UserMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  timestamp,
});

export const usage = (input: number, output: number, own: Partial<Usage> = {}): Usage => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + output,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  ...own,
});

export const assistant = (content: AssistantBlock[], own: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  content,
  api: 'tau-scripted',
  provider: 'tau',
  model: 'scripted',
  usage: usage(0, 0),
  stopReason: content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop',
  timestamp: 1,
  ...own,
});

export const block = (text: string): AssistantBlock => ({ type: 'text', text });

export const call = (id: string, name = 'bash'): ToolCall => ({ type: 'toolCall', id, name, arguments: {} });

export const result = (toolCallId: string, text = 'done'): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'bash',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp: 1,
});

/** A message as a short text for assertions. */
export const brief = (message: AgentMessage): string => {
  if (message.role === 'toolResult') return `result ${message.toolCallId}${message.isError ? ' (lost)' : ''}`;
  if ('summary' in message) return `${message.role}: ${message.summary}`;
  if (!('content' in message)) return message.role;
  const text = typeof message.content === 'string' ? message.content : message.content.map(briefBlock).join('');
  return `${message.role}: ${text}`;
};

const briefBlock = (block: { type: string; text?: string; id?: string }) => block.text ?? block.id ?? block.type;
