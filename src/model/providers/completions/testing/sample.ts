import type { AssistantMessage, Model } from '../../../../protocol/generated/vocabulary.ts';
import { noUsage } from '../../../draft.ts';
import type { Endpoint } from '../../../endpoint.ts';
import type { ModelMessage, ModelRequest, ToolSpec } from '../../../request.ts';
import { requestBody } from '../body.ts';
import { quirksOf } from '../quirks.ts';

/** An OpenAI model with thinking and images, unless overridden. */
export const sampleModel = (own: Partial<Model> = {}): Model => ({
  id: 'gpt-test',
  name: 'Test',
  api: 'openai-completions',
  provider: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  reasoning: true,
  input: ['text', 'image'],
  contextWindow: 100_000,
  maxTokens: 8000,
  cost: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 1 },
  ...own,
});

export const sampleRequest = (own: Partial<ModelRequest> = {}): ModelRequest => ({
  model: sampleModel(),
  thinkingLevel: 'medium',
  systemPrompt: 'Be brief.',
  messages: [user('Hello')],
  tools: [],
  signal: new AbortController().signal,
  ...own,
});

export const sampleEndpoint = (own: Partial<Endpoint> = {}): Endpoint => ({
  baseUrl: 'https://api.openai.com/v1',
  apiKey: 'sk-test',
  headers: {},
  timeouts: { connectMs: 5000, firstByteMs: 5000, betweenMs: 5000 },
  ...own,
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export const bodyOf = (request: ModelRequest): any => requestBody(request, quirksOf(request.model));

export const readTool: ToolSpec = {
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};

export const user = (content: Extract<ModelMessage, { role: 'user' }>['content']): ModelMessage => ({
  role: 'user',
  content,
  timestamp: 1,
});

/** A message of the sample model, unless overridden. */
export const assistant = (
  content: AssistantMessage['content'],
  own: Partial<Pick<AssistantMessage, 'api' | 'provider' | 'model'>> = {},
): AssistantMessage => ({
  role: 'assistant',
  content,
  api: 'openai-completions',
  provider: 'openai',
  model: 'gpt-test',
  usage: noUsage(),
  stopReason: 'stop',
  timestamp: 2,
  ...own,
});

export const call = (id: string, own: { thoughtSignature?: string } = {}) => ({
  type: 'toolCall' as const,
  id,
  name: 'read',
  arguments: { path: 'a.txt' },
  ...own,
});

export const result = (
  toolCallId: string,
  content: Extract<ModelMessage, { role: 'toolResult' }>['content'],
): ModelMessage => ({ role: 'toolResult', toolCallId, toolName: 'read', content, isError: false, timestamp: 3 });

export const text = (content: string) => ({ type: 'text' as const, text: content });
export const image = { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' };
