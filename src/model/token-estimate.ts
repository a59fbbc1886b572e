import type { AssistantBlock, ContentBlock } from '../protocol/generated/vocabulary.ts';
import type { ModelRequest } from './request.ts';

const CHARACTERS_PER_TOKEN = 4;
// Images are charged by area; this is about a screenshot.
const CHARACTERS_PER_IMAGE = 4800;

type RequestContent = Pick<ModelRequest, 'systemPrompt' | 'messages' | 'tools'>;

type Block = AssistantBlock | ContentBlock | null;

/** Estimates the tokens of a text of this length. */
export const tokensForCharacters = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

/** The length of a text that is estimated to need this many tokens. */
export const charactersForTokens = (tokens: number): number => tokens * CHARACTERS_PER_TOKEN;

/**
 * The length of a message's content; images count as text of fixed length. Session files may contain malformed content.
 */
export function countCharacters(content: string | readonly Block[] | undefined): number {
  if (typeof content === 'string') return content.length;
  return Array.isArray(content) ? content.reduce((sum: number, block: Block) => sum + blockCharacters(block), 0) : 0;
}

function blockCharacters(block: Block): number {
  switch (block?.type) {
    case 'text':
      return block.text?.length ?? 0;
    case 'thinking':
      return block.thinking?.length ?? 0;
    case 'toolCall':
      return (block.name?.length ?? 0) + (JSON.stringify(block.arguments)?.length ?? 0);
    case 'image':
      return CHARACTERS_PER_IMAGE;
    default:
      return 0;
  }
}

// Below this, the server itself may report that nothing fits.
const MIN_OUTPUT_TOKENS = 4096;

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
  const messageCharacters = messages.reduce((sum, { content }) => sum + countCharacters(content), 0);
  return tokensForCharacters(systemPrompt.length + messageCharacters + JSON.stringify(tools).length);
}
