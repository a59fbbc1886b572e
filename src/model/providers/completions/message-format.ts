/** A part of a message with more than text. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cache_control?: object }
  | { readonly type: 'thinking'; readonly thinking: readonly { readonly type: 'text'; readonly text: string }[] }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A message in the form of the API; assistant messages may have fields of their server. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string | null | readonly ContentPart[];
  readonly [field: string]: unknown;
}

const roles = ['system', 'developer', 'user', 'tool'] as const;
const mark = { cache_control: { type: 'ephemeral' } };

/**
 * Marks for caching the system prompt, with the tools before it, and the last user message and tool result, which the
 * next request repeats.
 */
export function withCacheMarks(messages: readonly ChatMessage[]): ChatMessage[] {
  const marked = new Set(roles.map((role) => messages.findLastIndex((message) => message.role === role)));
  return messages.map((message, index) =>
    marked.has(index) ? { ...message, content: markLastText(message.content) } : message,
  );
}

function markLastText(content: ChatMessage['content']): ChatMessage['content'] {
  const parts: readonly ContentPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const last = parts.findLastIndex(({ type }) => type === 'text');
  return parts.map((part, index) => (index === last ? { ...part, ...mark } : part));
}
