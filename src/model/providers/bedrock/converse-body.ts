import type { AssistantBlock, ContentBlock, ToolResultMessage } from '../../../protocol/generated/vocabulary.ts';
import { replayableMessages } from '../../replay.ts';
import type { ModelMessage, ModelRequest, ToolSpec } from '../../request.ts';
import { effortName, nearestLevel } from '../../thinking-levels.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { anthropicToolId } from '../tool-call-ids.ts';

interface ConverseMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly object[];
}

/** The request body of Converse. Equal requests have equal bytes, as prompt caching requires. */
export function converseBody(request: ModelRequest): object {
  const { model, systemPrompt, tools } = request;
  const thinking = thinkingFields(request);
  const messages = converseMessages(request);
  const isCached = cachedModels.test(model.id);
  return {
    ...(systemPrompt.trim() === '' ? {} : { system: [{ text: systemPrompt }, ...(isCached ? [cachePoint] : [])] }),
    messages: isCached ? withCachePoint(messages) : messages,
    inferenceConfig: { maxTokens: maxOutputTokens(request) },
    ...toolFields(tools, messages),
    ...(thinking ? { additionalModelRequestFields: thinking } : {}),
  };
}

// Other models reject marks for the cache.
const cachedModels = /amazon\.nova/;
const cachePoint = { cachePoint: { type: 'default' } };

const withCachePoint = (messages: readonly ConverseMessage[]): ConverseMessage[] => {
  const last = messages.findLast(({ role }) => role === 'user');
  return messages.map((message) =>
    message === last ? { ...message, content: [...message.content, cachePoint] } : message,
  );
};

/** The conversation: roles alternate, and the first is the user's. */
function converseMessages({ messages, model }: ModelRequest): ConverseMessage[] {
  const merged: { role: ConverseMessage['role']; content: object[] }[] = [];
  for (const message of replayableMessages(messages, model, anthropicToolId)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message);
    if (content.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  if (merged[0]?.role === 'assistant') merged.unshift({ role: 'user', content: [{ text: OMITTED }] });
  return merged.map(({ role, content }) => ({ role, content: resultsFirst(content) }));
}

const OMITTED = '(The beginning of the conversation is not shown.)';

const resultsFirst = (content: readonly object[]): object[] => [
  ...content.filter((block) => 'toolResult' in block),
  ...content.filter((block) => !('toolResult' in block)),
];

function contentOf(message: ModelMessage): object[] {
  switch (message.role) {
    case 'user':
      return typeof message.content === 'string' ? textBlock(message.content) : message.content.flatMap(contentBlock);
    case 'toolResult':
      return [toolResult(message)];
    case 'assistant':
      return message.content.flatMap(assistantBlock);
    default:
      return message satisfies never;
  }
}

// The API rejects blank texts.
const textBlock = (text: string): object[] => (text.trim() === '' ? [] : [{ text }]);

const contentBlock = (block: ContentBlock): object[] =>
  block.type === 'image'
    ? [{ image: { format: block.mimeType.replace(/^image\//, ''), source: { bytes: block.data } } }]
    : textBlock(block.text);

function toolResult({ toolCallId, content, isError }: ToolResultMessage): object {
  const blocks = content.flatMap(contentBlock);
  return {
    toolResult: {
      toolUseId: toolCallId,
      content: blocks.length > 0 ? blocks : [{ text: '(no output)' }],
      status: isError ? 'error' : 'success',
    },
  };
}

function assistantBlock(block: AssistantBlock): object[] {
  switch (block.type) {
    case 'text':
      return textBlock(block.text);
    case 'toolCall':
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.arguments } }];
    case 'thinking': {
      const { thinking: text, thinkingSignature: signature, redacted } = block;
      if (redacted) return signature ? [{ reasoningContent: { redactedContent: signature } }] : [];
      if (text.trim() === '') return [];
      return [{ reasoningContent: { reasoningText: { text, ...(signature ? { signature } : {}) } } }];
    }
    default:
      return block satisfies never;
  }
}

// The API rejects calls in the conversation if the request has no tools.
function toolFields(tools: readonly ToolSpec[], messages: readonly ConverseMessage[]): object {
  const called = messages
    .flatMap(({ content }) => content)
    .flatMap((block) => ('toolUse' in block ? nameIn(block) : []));
  const offered = tools.length > 0 ? tools : [...new Set(called)].map(removedTool);
  return offered.length === 0 ? {} : { toolConfig: { tools: offered.map(toolSpec) } };
}

const nameIn = (block: object) => (block as { toolUse: { name: string } }).toolUse.name;

const removedTool = (name: string): ToolSpec => ({
  name,
  description: 'No longer available.',
  parameters: { type: 'object', properties: {} },
});

const toolSpec = ({ name, description, parameters }: ToolSpec): object => ({
  toolSpec: { name, description, inputSchema: { json: { type: 'object', ...parameters } } },
});

// Each family of models has a field of its own for the depth of its thinking; others have none.
function thinkingFields(request: ModelRequest): object | undefined {
  const { model } = request;
  if (!model.reasoning) return undefined;
  const level = nearestLevel(model, request.thinkingLevel);
  if (level === 'off') return undefined;
  const effort = effortName(model, level);
  if (/gpt-oss/.test(model.id)) return { reasoning_effort: effort };
  if (/openai\.gpt-/.test(model.id)) return { reasoning: { effort } };
  if (/amazon\.nova-2/.test(model.id)) return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } };
  return undefined;
}
