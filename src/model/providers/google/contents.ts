import type {
  AssistantMessage,
  ContentBlock,
  ImageContent,
  ToolResultMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayableMessages } from '../../replay.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { isGemini3OrLater } from './thinking.ts';

/** A message in the form of the API. */
export interface GoogleContent {
  readonly role: 'user' | 'model';
  readonly parts: readonly object[];
}

// The API's placeholder for a missing signature, as on a call of another model.
const SKIP_SIGNATURE_CHECK = 'skip_thought_signature_validator';

const LONGEST_ID = 64;

const portableId = (id: string): string => id.replaceAll(/[^\w-]/g, '_').slice(0, LONGEST_ID);

/** The conversation in the form of the API: roles alternate. */
export function googleContents({ messages, model }: ModelRequest): GoogleContent[] {
  const needsSignature = isGemini3OrLater(model);
  const contents = replayableMessages(messages, model, portableId)
    .map((message) => contentOf(message, { needsSignature }))
    .filter(({ parts }) => parts.length > 0);
  return mergedByRole(contents).map(({ role, parts }) => ({ role, parts: responsesFirst(parts) }));
}

function contentOf(message: ModelMessage, { needsSignature }: { needsSignature: boolean }): GoogleContent {
  switch (message.role) {
    case 'user': {
      const { content } = message;
      return { role: 'user', parts: typeof content === 'string' ? textPart(content) : content.flatMap(contentParts) };
    }
    case 'toolResult':
      return { role: 'user', parts: resultParts(message) };
    case 'assistant':
      return {
        role: 'model',
        parts: needsSignature ? withFirstCallSigned(assistantParts(message)) : assistantParts(message),
      };
    default:
      return message satisfies never;
  }
}

function mergedByRole(contents: readonly GoogleContent[]): GoogleContent[] {
  const merged: { role: GoogleContent['role']; parts: object[] }[] = [];
  for (const { role, parts } of contents) {
    const last = merged.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else merged.push({ role, parts: [...parts] });
  }
  return merged;
}

// The results of parallel calls must be adjacent.
const responsesFirst = (parts: readonly object[]): object[] => [
  ...parts.filter((part) => 'functionResponse' in part),
  ...parts.filter((part) => !('functionResponse' in part)),
];

const textPart = (text: string): object[] => (text === '' ? [] : [{ text }]);

const imagePart = ({ mimeType, data }: ImageContent): object => ({ inlineData: { mimeType, data } });

const contentParts = (block: ContentBlock): object[] =>
  block.type === 'image' ? [imagePart(block)] : textPart(block.text);

function resultParts({ toolCallId, toolName, content, isError }: ToolResultMessage): object[] {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const images = content.filter((block) => block.type === 'image');
  const output = text === '' && images.length > 0 ? '(an image, shown below)' : text;
  const response = isError ? { error: output } : { output };
  const part = { functionResponse: { id: toolCallId, name: toolName, response } };
  return images.length === 0 ? [part] : [part, { text: `What ${toolName} shows:` }, ...images.map(imagePart)];
}

// Thinking without a signature is omitted: the API would take it for text.
const assistantParts = ({ content }: AssistantMessage): object[] =>
  content.flatMap((block): object[] => {
    switch (block.type) {
      case 'text':
        return textPart(block.text).map((part) => withSignature(part, block.textSignature));
      case 'thinking':
        if (block.redacted || block.thinkingSignature === undefined) return [];
        return textPart(block.thinking).map((part) =>
          withSignature({ ...part, thought: true }, block.thinkingSignature),
        );
      case 'toolCall': {
        const { id, name, arguments: args } = block;
        return [withSignature({ functionCall: { id, name, args } }, block.thoughtSignature)];
      }
      default:
        return block satisfies never;
    }
  });

const withSignature = (part: object, thoughtSignature: string | undefined): object =>
  thoughtSignature === undefined ? part : { ...part, thoughtSignature };

// Of parallel calls, the first must have a signature.
function withFirstCallSigned(parts: readonly object[]): object[] {
  const first = parts.findIndex((part) => 'functionCall' in part);
  return parts.map((part, index) => (index === first ? { thoughtSignature: SKIP_SIGNATURE_CHECK, ...part } : part));
}
