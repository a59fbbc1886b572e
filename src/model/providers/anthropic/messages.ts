import type {
  AssistantBlock,
  AssistantMessage,
  Model,
  ToolResultMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayableMessages } from '../../replay.ts';
import type { ModelMessage } from '../../request.ts';
import { anthropicToolId } from '../tool-call-ids.ts';
import { type CacheMark, contentBlocks, type ImageBlock, type TextBlock, textBlocks } from './content.ts';

/** A message in the form of the API. */
export type MessageParam =
  | { readonly role: 'user'; readonly content: readonly (UserBlock & CacheMark)[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantParamBlock[] };

type UserBlock = TextBlock | ImageBlock | ToolResultBlock;

interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: readonly (TextBlock | ImageBlock)[];
  readonly is_error?: true;
}

type AssistantParamBlock = TextBlock | ThinkingBlock | ToolUseBlock;

type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** The conversation in the form of the API; it begins with a user message. */
export function messageParams(messages: readonly ModelMessage[], model: Model): MessageParam[] {
  const params: MessageParam[] = [];
  for (const message of replayableMessages(messages, model, anthropicToolId)) {
    if (message.role === 'assistant') {
      const content = assistantBlocks(message, model);
      if (content.length > 0) params.push({ role: 'assistant', content });
    } else {
      const blocks = message.role === 'user' ? contentBlocks(message.content) : toolResultBlocks(message, params);
      if (blocks.length > 0) addUserBlocks(params, blocks);
    }
  }
  return params[0]?.role === 'user' ? params : [omittedBeginning, ...params];
}

const omittedBeginning: MessageParam = {
  role: 'user',
  content: [{ type: 'text', text: '(The beginning of the conversation is not shown.)' }],
};

// Merges consecutive user messages, tool results first.
function addUserBlocks(params: MessageParam[], blocks: readonly UserBlock[]): void {
  const last = params.at(-1);
  if (last?.role === 'user') params.pop();
  const before = last?.role === 'user' ? last.content : [];
  params.push({ role: 'user', content: resultsFirst([...before, ...blocks]) });
}

const resultsFirst = (blocks: readonly UserBlock[]): UserBlock[] => [
  ...blocks.filter(isToolResult),
  ...blocks.filter((block) => !isToolResult(block)),
];

export const isToolResult = ({ type }: UserBlock): boolean => type === 'tool_result';

// The API accepts one result per call of the preceding assistant message.
function toolResultBlocks(
  { toolCallId, content, isError }: ToolResultMessage,
  params: readonly MessageParam[],
): ToolResultBlock[] {
  const assistant = params.findLast(({ role }) => role === 'assistant');
  const last = params.at(-1);
  const isCalled = assistant?.content.some((block) => block.type === 'tool_use' && block.id === toolCallId);
  const hasResult = last?.content.some((block) => block.type === 'tool_result' && block.tool_use_id === toolCallId);
  if (!isCalled || hasResult) return [];
  const blocks = contentBlocks(content);
  return [
    {
      type: 'tool_result',
      tool_use_id: toolCallId,
      content: blocks.length > 0 ? blocks : [{ type: 'text', text: '(no output)' }],
      ...(isError ? { is_error: true } : {}),
    },
  ];
}

// The API rejects an assistant message that ends with thinking.
function assistantBlocks({ content }: AssistantMessage, { compat }: Model): AssistantParamBlock[] {
  const allowsUnsigned = compat?.['allowEmptySignature'] === true;
  const blocks = content.flatMap((block) => assistantBlock(block, { allowsUnsigned }));
  return blocks.slice(0, blocks.findLastIndex((block) => !isThinkingBlock(block)) + 1);
}

export const isThinkingBlock = ({ type }: AssistantParamBlock): boolean =>
  type === 'thinking' || type === 'redacted_thinking';

function assistantBlock(block: AssistantBlock, { allowsUnsigned }: { allowsUnsigned: boolean }): AssistantParamBlock[] {
  switch (block.type) {
    case 'text':
      return textBlocks(block.text);
    case 'toolCall':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: block.arguments }];
    case 'thinking': {
      const { thinking, thinkingSignature: signature = '', redacted } = block;
      if (signature === '' && !allowsUnsigned) return textBlocks(thinking);
      return [redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking, signature }];
    }
    default:
      return block satisfies never;
  }
}
