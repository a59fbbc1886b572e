import type {
  AssistantMessage,
  Model,
  TextContent,
  ThinkingContent,
  ToolCall,
} from '../../../protocol/generated/vocabulary.ts';
import type { ChatMessage, ContentPart } from './message-format.ts';
import type { Quirks } from './quirks.ts';
import { isThinkingField } from './text-deltas.ts';

/** Encodes an assistant message. One that has only thinking is omitted: servers reject it. */
export function encodeAssistant(
  { content }: AssistantMessage,
  { model, quirks }: { model: Model; quirks: Quirks },
): ChatMessage[] {
  const calls = content.filter((block) => block.type === 'toolCall');
  const text = content
    .flatMap((block) => (isSentAsText(block, quirks) ? [block.type === 'text' ? block.text : block.thinking] : []))
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  if (calls.length === 0 && text === '') return [];
  const thinking = content.filter((block) => block.type === 'thinking');
  return [
    {
      role: 'assistant',
      ...(quirks.thinkingFormat === 'mistral'
        ? { content: contentWithThinking(thinking, text) }
        : { content: text === '' ? null : text }),
      ...(quirks.requiresThinkingAsText ? {} : reasoningFields(thinking, { model, quirks })),
      ...(calls.length > 0 && { tool_calls: calls.map(toolCallField) }),
    },
  ];
}

type Block = AssistantMessage['content'][number];

const isSentAsText = (block: Block, { requiresThinkingAsText }: Quirks): block is TextContent | ThinkingContent =>
  block.type === 'text' || (block.type === 'thinking' && requiresThinkingAsText);

// Mistral has thinking inside the content.
function contentWithThinking(thinking: readonly ThinkingContent[], text: string): ChatMessage['content'] {
  if (thinking.length === 0) return text;
  const parts = thinking.map(
    (block): ContentPart => ({ type: 'thinking', thinking: [{ type: 'text', text: block.thinking }] }),
  );
  return text === '' ? parts : [...parts, { type: 'text', text }];
}

// Thinking is replayed as it came: as signed details, or else in the field that held it.
function reasoningFields(
  blocks: readonly ThinkingContent[],
  { model, quirks }: { model: Model; quirks: Quirks },
): Record<string, unknown> {
  const details = blocks.flatMap(({ thinkingSignature }) => {
    const signature = parsedSignature(thinkingSignature);
    return Array.isArray(signature) ? signature : [];
  });
  if (details.length > 0) return { reasoning_details: details };
  const plain = blocks.filter(({ thinkingSignature }) => isThinkingField(thinkingSignature));
  const [first] = plain;
  if (first?.thinkingSignature) return { [first.thinkingSignature]: plain.map(({ thinking }) => thinking).join('\n') };
  // Some servers reject empty thinking.
  return model.reasoning && quirks.requiresReasoningContentOnAssistantMessages ? { reasoning_content: ' ' } : {};
}

function toolCallField({ id, name, arguments: values, thoughtSignature }: ToolCall): object {
  const extra = parsedSignature(thoughtSignature);
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(values) },
    ...(extra !== undefined && { extra_content: extra }),
  };
}

// A signature is JSON that the server needs back unchanged; undefined if it has another form.
function parsedSignature(signature: string | undefined): object | undefined {
  if (signature === undefined || !/^[[{]/.test(signature)) return undefined;
  try {
    return JSON.parse(signature);
  } catch {
    return undefined;
  }
}
