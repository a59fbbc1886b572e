import type { ContentPart, ChatMessage } from './message-format.ts';

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
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const last = parts.findLastIndex(({ type }) => type === 'text');
  return parts.map((part, index) => (index === last ? { ...part, ...mark } : part));
}
