import type {
  AssistantMessage,
  Model,
  TextContent,
  ThinkingContent,
  ToolCall,
} from '../../../protocol/generated/vocabulary.ts';
import { isThoughtField } from './prose.ts';
import type { Quirks } from './quirks.ts';
import { parsedSeal } from './seals.ts';
import type { Spoken } from './spoken.ts';

/** What the model said earlier. An answer that is nothing but a thought is left out: no server takes it. */
export function spokenAnswer(
  { content }: AssistantMessage,
  { model, quirks }: { model: Model; quirks: Quirks },
): Spoken[] {
  const calls = content.filter((block) => block.type === 'toolCall');
  const words = content
    .flatMap((block) => (isSaid(block, quirks) ? [block.type === 'text' ? block.text : block.thinking] : []))
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  if (calls.length === 0 && words === '') return [];
  const thoughts = content.filter((block) => block.type === 'thinking');
  return [
    {
      role: 'assistant',
      content: words === '' ? null : words,
      ...(quirks.requiresThinkingAsText ? {} : thoughtFields(thoughts, { model, quirks })),
      ...(calls.length > 0 && { tool_calls: calls.map(asCall) }),
    },
  ];
}

type Block = AssistantMessage['content'][number];

const isSaid = (block: Block, { requiresThinkingAsText }: Quirks): block is TextContent | ThinkingContent =>
  block.type === 'text' || (block.type === 'thinking' && requiresThinkingAsText);

/** Thoughts go back the way they came: as sealed details where the server gave any, else under the name of their field. */
function thoughtFields(
  thoughts: readonly ThinkingContent[],
  { model, quirks }: { model: Model; quirks: Quirks },
): Record<string, unknown> {
  const details = thoughts.flatMap(({ thinkingSignature }) => {
    const seal = parsedSeal(thinkingSignature);
    return Array.isArray(seal) ? seal : [];
  });
  if (details.length > 0) return { reasoning_details: details };
  const plain = thoughts.filter(({ thinkingSignature }) => isThoughtField(thinkingSignature));
  const [first] = plain;
  if (first?.thinkingSignature) return { [first.thinkingSignature]: plain.map(({ thinking }) => thinking).join('\n') };
  // Some servers take an empty thought for none.
  return model.reasoning && quirks.requiresReasoningContentOnAssistantMessages ? { reasoning_content: ' ' } : {};
}

function asCall({ id, name, arguments: values, thoughtSignature }: ToolCall): object {
  const extra = parsedSeal(thoughtSignature);
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(values) },
    ...(extra !== undefined && { extra_content: extra }),
  };
}
