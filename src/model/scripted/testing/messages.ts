import type {
  AssistantMessage,
  ContentBlock,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { emptyAssistantMessage } from '../../draft.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { converse } from '../conversation/converse.ts';
import { modelNamed, scriptedRequest } from './call.ts';

const tools = ['bash', 'read', 'write'].map((name) => ({ name, description: '', parameters: {} }));

/** The steps of the scripted model for these messages, with the usual tools. */
export const respond = (messages: readonly ModelMessage[], own: Partial<ModelRequest> = {}) =>
  converse(scriptedRequest({ messages, tools, ...own }));

export const userMessage = (content: string | ContentBlock[]): UserMessage => ({ role: 'user', content, timestamp: 0 });

export const bash = (command: string) => ({ toolCall: { name: 'bash', arguments: { command } } });
export const read = (path: string) => ({ toolCall: { name: 'read', arguments: { path } } });
export const write = (path: string, content: string) => ({ toolCall: { name: 'write', arguments: { path, content } } });

/** An assistant message with tool calls. */
export function assistantCalls(
  ...calls: { toolCall: { name: string; arguments: Record<string, unknown> } }[]
): AssistantMessage {
  const content = calls.map(
    ({ toolCall }, index): ToolCall => ({ type: 'toolCall', id: `call_${index}`, ...toolCall }),
  );
  return { ...emptyAssistantMessage(modelNamed('scripted')), content, stopReason: 'toolUse' };
}

/** A tool result. */
export function result(toolName: string, output: string, outcome: 'done' | 'failed' = 'done'): ToolResultMessage {
  const content: ContentBlock[] = output === '' ? [] : [{ type: 'text', text: output }];
  return { role: 'toolResult', toolCallId: 'call_0', toolName, content, isError: outcome === 'failed', timestamp: 0 };
}

/** A fake image. */
export function image(data: string): ContentBlock {
  return { type: 'image', data, mimeType: 'image/png' };
}
