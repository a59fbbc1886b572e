import type {
  ContentBlock,
  ImageContent,
  ToolResultMessage,
  UserMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayableMessages } from '../../replay.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { completionsToolIds, withMistralToolIds } from '../tool-call-ids.ts';
import { encodeAssistant } from './encode-assistant.ts';
import { type ChatMessage, type ContentPart, withCacheMarks } from './message-format.ts';
import type { Quirks } from './quirks.ts';

/** The conversation in the form of the API, the system prompt first. */
export function encodeMessages(request: ModelRequest, quirks: Quirks): readonly ChatMessage[] {
  const replayable = replayableMessages(request.messages, request.model, completionsToolIds(quirks));
  const replayed = quirks.requiresMistralToolIds ? withMistralToolIds(replayable) : replayable;
  const encoded = [...systemMessages(request, quirks), ...encodeConversation(replayed, { request, quirks })];
  const bridged = quirks.requiresAssistantAfterToolResult ? withBridgeMessages(encoded) : encoded;
  return quirks.cacheControlFormat === 'anthropic' ? withCacheMarks(bridged) : bridged;
}

interface EncodeContext {
  readonly request: ModelRequest;
  readonly quirks: Quirks;
}

function systemMessages({ model, systemPrompt }: ModelRequest, { supportsDeveloperRole }: Quirks): ChatMessage[] {
  const role = model.reasoning && supportsDeveloperRole ? 'developer' : 'system';
  return systemPrompt === '' ? [] : [{ role, content: systemPrompt }];
}

function* encodeConversation(
  messages: readonly ModelMessage[],
  { request, quirks }: EncodeContext,
): Generator<ChatMessage> {
  // Tool messages hold only text: images follow after the last result.
  let images: ImageContent[] = [];
  for (const message of messages) {
    if (message.role === 'toolResult') {
      yield toolMessage(message, quirks);
      images.push(...message.content.filter(isImage));
      continue;
    }
    if (images.length > 0) yield imageMessage(images);
    images = [];
    if (message.role === 'user') yield* userMessages(message);
    else yield* encodeAssistant(message, { model: request.model, quirks });
  }
  if (images.length > 0) yield imageMessage(images);
}

function userMessages({ content }: UserMessage): ChatMessage[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ role: 'user', content }];
  const blocks = content.filter((block) => block.type === 'image' || block.text.trim() !== '');
  if (blocks.length === 0) return [];
  // Not every server supports parts, so plain text is sent as a string.
  return [{ role: 'user', content: blocks.some(isImage) ? blocks.map(contentPart) : joinedText(blocks) }];
}

function toolMessage(
  { content, toolCallId, toolName }: ToolResultMessage,
  { requiresToolResultName }: Quirks,
): ChatMessage {
  const text = joinedText(content);
  const placeholder = content.some(isImage) ? '(see attached image)' : '(no output)';
  return {
    role: 'tool',
    content: text.trim() === '' ? placeholder : text,
    tool_call_id: toolCallId,
    ...(requiresToolResultName && { name: toolName }),
  };
}

const imageMessage = (images: readonly ImageContent[]): ChatMessage => ({
  role: 'user',
  content: [{ type: 'text', text: 'Attached image(s) from tool result:' }, ...images.map(contentPart)],
});

const isImage = (block: ContentBlock) => block.type === 'image';

const joinedText = (content: readonly ContentBlock[]) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');

const contentPart = (block: ContentBlock): ContentPart =>
  block.type === 'text'
    ? { type: 'text', text: block.text }
    : { type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } };

// Inserts an assistant message between tool results and a user message.
const withBridgeMessages = (messages: readonly ChatMessage[]): ChatMessage[] =>
  messages.flatMap((message, index) =>
    message.role === 'user' && messages[index - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'I have read what the tools said.' }, message]
      : [message],
  );
