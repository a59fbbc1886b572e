import { createHash } from 'node:crypto';
import type { ToolCallIdRule } from '../replay.ts';
import type { ModelMessage } from '../request.ts';
import type { Quirks } from './completions/quirks.ts';

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const KEPT = 47;
const DIGEST = 16;

/** The id rule for Anthropic: keeps an accepted id, and makes a unique one of any other. */
export function anthropicToolId(id: string): string {
  if (accepted.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST);
  return `${id.slice(0, KEPT).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_${digest}`;
}

const LONGEST_ID = 40;
const HASH_LENGTH = 9;

/** The id rule for chat completions; different ids stay different. */
export function completionsToolIds({ requiresMistralToolIds }: Quirks): ToolCallIdRule {
  // They all change together, in `withMistralToolIds`.
  if (requiresMistralToolIds) return (id) => id;
  const owners = new Map<string, string>();
  return (id) => {
    const short = shortened(id);
    const owner = owners.get(short) ?? id;
    const form = owner === id && short !== '' ? short : `${short.slice(0, LONGEST_ID - HASH_LENGTH - 1)}_${hashed(id)}`;
    owners.set(form, id);
    return form;
  };
}

/**
 * Gives every tool call, and its result, an id of exactly nine letters or digits. An id of that form stays; of any other
 * the same conversation always gets the same one, and no two calls share one.
 */
export function withMistralToolIds(messages: readonly ModelMessage[]): ModelMessage[] {
  const called = messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'toolCall' ? block.id : [])) : [],
  );
  const forms = new Map(called.filter((id) => mistralId.test(id)).map((id) => [id, id]));
  const taken = new Set(forms.values());
  const formOf = (id: string): string => {
    let form = forms.get(id) ?? hashed(id);
    for (let copy = 2; !forms.has(id) && taken.has(form); copy += 1) form = hashed(`${id} ${copy}`);
    forms.set(id, form);
    taken.add(form);
    return form;
  };
  return messages.map((message): ModelMessage => {
    if (message.role === 'toolResult') return { ...message, toolCallId: formOf(message.toolCallId) };
    if (message.role === 'user') return message;
    const content = message.content.map((block) =>
      block.type === 'toolCall' ? { ...block, id: formOf(block.id) } : block,
    );
    return { ...message, content };
  });
}

const mistralId = /^[a-zA-Z0-9]{9}$/;

// Ids of the Responses API contain an item id after a bar.
const shortened = (id: string) => (id.split('|')[0] ?? '').replaceAll(/[^\w-]/g, '_').slice(0, LONGEST_ID);

const hashed = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);
