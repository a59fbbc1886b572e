import type { AssistantBlock, ContentBlock } from '../protocol/generated/vocabulary.ts';
import type { ModelRequest } from './request.ts';

// Bytes of UTF-8, not characters: a Chinese or Japanese character takes about as many tokens as three Latin letters.
const BYTES_PER_TOKEN = 4;
// Images are charged by area; this is about a screenshot.
const BYTES_PER_IMAGE = 4800;

type RequestContent = Pick<ModelRequest, 'systemPrompt' | 'messages' | 'tools'>;

type Block = AssistantBlock | ContentBlock | null;

/** Estimates the tokens of a text of this many bytes. */
export const tokensForBytes = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** The bytes of a text that is estimated to need this many tokens. */
export const bytesForTokens = (tokens: number): number => tokens * BYTES_PER_TOKEN;

/**
 * The bytes of a message's content; images count as text of fixed length. Session files may contain malformed content.
 */
export function countBytes(content: string | readonly Block[] | undefined): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  return Array.isArray(content) ? content.reduce((sum: number, block: Block) => sum + blockBytes(block), 0) : 0;
}

function blockBytes(block: Block): number {
  switch (block?.type) {
    case 'text':
      return countBytes(block.text);
    case 'thinking':
      return countBytes(block.thinking);
    case 'toolCall':
      return countBytes(block.name) + countBytes(JSON.stringify(block.arguments));
    case 'image':
      return BYTES_PER_IMAGE;
    default:
      return 0;
  }
}

/** The least limit of a response: below this, the server itself may report that nothing fits. */
export const MIN_OUTPUT_TOKENS = 4096;

/** The token limit of a response. Servers reject a request that could exceed the context window. */
export function maxOutputTokens(request: ModelRequest): number {
  const { model, maxTokens = model.maxTokens } = request;
  const limit = Math.min(maxTokens, model.maxTokens);
  if (model.contextWindow === 0) return limit;
  const left = model.contextWindow - estimateRequest(request);
  return Math.min(limit, Math.max(left, MIN_OUTPUT_TOKENS));
}

/** Estimates the tokens of a request: system prompt, tools and messages. */
export function estimateRequest({ systemPrompt, messages, tools }: RequestContent): number {
  const messageBytes = messages.reduce((sum, { content }) => sum + countBytes(content), 0);
  return tokensForBytes(countBytes(systemPrompt) + messageBytes + countBytes(JSON.stringify(tools)));
}
