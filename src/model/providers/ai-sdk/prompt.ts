import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  ImageContent,
  ToolResultMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayableMessages } from '../../replay.ts';
import type { ModelRequest } from '../../request.ts';
import {
  type ProviderOptions,
  recordOf,
  type SdkCallOptions,
  type SdkFileData,
  type SdkVersion,
} from './language-model.ts';

type Message = SdkCallOptions['prompt'][number];
type UserPart = Extract<Message, { role: 'user' }>['content'][number];
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number];

/** The conversation in the form of the AI SDK. */
export function encodePrompt({ model, systemPrompt, messages }: ModelRequest, version: SdkVersion): Message[] {
  const prompt: Message[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
  const images: UserPart[] = [];
  for (const message of replayableMessages(messages, model, portableId)) {
    if (message.role === 'toolResult') {
      addResult(prompt, message);
      images.push(...imagesOf(message, version));
      continue;
    }
    addUser(prompt, images.splice(0));
    if (message.role === 'user') addUser(prompt, userParts(message.content, version));
    else addAssistant(prompt, message);
  }
  addUser(prompt, images);
  markForCaching(prompt, model.compat?.['cachePoint']);
  return prompt;
}

// Every provider accepts such an id.
const portableId = (id: string) =>
  id
    .replace(/\|.*/s, '')
    .replaceAll(/[^\w-]/g, '_')
    .slice(0, 40);

// Some providers reject consecutive user messages.
function addUser(prompt: Message[], parts: UserPart[]): void {
  if (parts.length === 0) return;
  const last = prompt.at(-1);
  if (last?.role === 'user') last.content.push(...parts);
  else prompt.push({ role: 'user', content: parts });
}

function addAssistant(prompt: Message[], { content }: AssistantMessage): void {
  const parts = content.flatMap(assistantPart);
  if (parts.length > 0) prompt.push({ role: 'assistant', content: parts });
}

// All results of one assistant message belong into one tool message.
function addResult(prompt: Message[], { toolCallId, toolName, content, isError }: ToolResultMessage): void {
  const result = {
    type: 'tool-result' as const,
    toolCallId,
    toolName,
    output: { type: isError ? ('error-text' as const) : ('text' as const), value: resultText(content) },
  };
  const last = prompt.at(-1);
  if (last?.role === 'tool') last.content.push(result);
  else prompt.push({ role: 'tool', content: [result] });
}

function resultText(content: readonly ContentBlock[]): string {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (text.trim() !== '') return text;
  return content.some(({ type }) => type === 'image') ? '(an image, which follows)' : '(no output)';
}

// Not every package supports images in results; all support them in user messages.
function imagesOf({ toolName, content }: ToolResultMessage, version: SdkVersion): UserPart[] {
  const images = userParts(
    content.filter(({ type }) => type === 'image'),
    version,
  );
  return images.length === 0 ? [] : [{ type: 'text', text: `Shown by ${toolName}:` }, ...images];
}

function userParts(content: string | readonly ContentBlock[], version: SdkVersion): UserPart[] {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return blocks.flatMap((block): UserPart[] => {
    if (block.type === 'image') return [filePart(block, version)];
    return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }];
  });
}

function filePart({ data, mimeType }: ImageContent, version: SdkVersion): UserPart {
  const content: SdkFileData = version === 'v4' ? { type: 'data', data } : data;
  return { type: 'file', data: content as string, mediaType: mimeType };
}

function assistantPart(block: AssistantBlock): AssistantPart[] {
  switch (block.type) {
    case 'text':
      if (block.text.trim() === '') return [];
      return [{ type: 'text', text: block.text, ...signatureOptions(block.textSignature) }];
    case 'thinking':
      if (block.thinking.trim() === '' && block.thinkingSignature === undefined) return [];
      return [{ type: 'reasoning', text: block.thinking, ...signatureOptions(block.thinkingSignature) }];
    case 'toolCall': {
      const { id, name, arguments: input, thoughtSignature } = block;
      return [{ type: 'tool-call', toolCallId: id, toolName: name, input, ...signatureOptions(thoughtSignature) }];
    }
    default:
      return block satisfies never;
  }
}

// The metadata that the package sent with this part.
function signatureOptions(signature: string | undefined): { providerOptions?: ProviderOptions } {
  if (signature === undefined) return {};
  try {
    return { providerOptions: recordOf(JSON.parse(signature)) as ProviderOptions };
  } catch {
    return {};
  }
}

// For providers with explicit caching: marks the system prompt and the end of the conversation.
function markForCaching(prompt: Message[], cachePoint: unknown): void {
  if (cachePoint === undefined) return;
  const marked = new Set([prompt[0], prompt.at(-1)]);
  for (const message of marked) if (message) message.providerOptions = recordOf(cachePoint) as ProviderOptions;
}
