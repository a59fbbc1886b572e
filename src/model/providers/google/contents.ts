import type {
  AssistantMessage,
  ContentBlock,
  ImageContent,
  ToolResultMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayable } from '../../replay.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { isThirdOrLater } from './thinking.ts';

/** What one side said at a time. */
export interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly object[];
}

/** The API's own word for a call whose seal is not known, as when another model made it. */
const NO_SEAL = 'skip_thought_signature_validator';

const LONGEST_ID = 64;

const plainId = (id: string): string => id.replaceAll(/[^\w-]/g, '_').slice(0, LONGEST_ID);

/** The conversation as the API takes it: both sides in turn. */
export function contentsOf({ messages, model }: ModelRequest): Content[] {
  const needsSeal = isThirdOrLater(model);
  const contents = replayable(messages, model, plainId)
    .map((message) => contentOf(message, { needsSeal }))
    .filter(({ parts }) => parts.length > 0);
  return inTurn(contents).map(({ role, parts }) => ({ role, parts: responsesFirst(parts) }));
}

function contentOf(message: ModelMessage, { needsSeal }: { needsSeal: boolean }): Content {
  switch (message.role) {
    case 'user': {
      const { content } = message;
      return { role: 'user', parts: typeof content === 'string' ? textPart(content) : content.flatMap(shown) };
    }
    case 'toolResult':
      return { role: 'user', parts: resultParts(message) };
    case 'assistant':
      return { role: 'model', parts: needsSeal ? firstCallSealed(answerParts(message)) : answerParts(message) };
    default:
      return message satisfies never;
  }
}

function inTurn(contents: readonly Content[]): Content[] {
  const turns: { role: Content['role']; parts: object[] }[] = [];
  for (const { role, parts } of contents) {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

/** The results of calls that were made together must stand together. */
const responsesFirst = (parts: readonly object[]): object[] => [
  ...parts.filter((part) => 'functionResponse' in part),
  ...parts.filter((part) => !('functionResponse' in part)),
];

const textPart = (text: string): object[] => (text === '' ? [] : [{ text }]);

const imagePart = ({ mimeType, data }: ImageContent): object => ({ inlineData: { mimeType, data } });

const shown = (block: ContentBlock): object[] => (block.type === 'image' ? [imagePart(block)] : textPart(block.text));

function resultParts({ toolCallId, toolName, content, isError }: ToolResultMessage): object[] {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const images = content.filter((block) => block.type === 'image');
  const words = text === '' && images.length > 0 ? '(an image, shown below)' : text;
  const response = isError ? { error: words } : { output: words };
  const part = { functionResponse: { id: toolCallId, name: toolName, response } };
  return images.length === 0 ? [part] : [part, { text: `What ${toolName} shows:` }, ...images.map(imagePart)];
}

/** Thoughts go back only with a seal: without one they would be words of the model like any others. */
const answerParts = ({ content }: AssistantMessage): object[] =>
  content.flatMap((block): object[] => {
    switch (block.type) {
      case 'text':
        return textPart(block.text).map((part) => sealed(part, block.textSignature));
      case 'thinking':
        if (block.redacted || block.thinkingSignature === undefined) return [];
        return textPart(block.thinking).map((part) => sealed({ ...part, thought: true }, block.thinkingSignature));
      case 'toolCall': {
        const { id, name, arguments: args } = block;
        return [sealed({ functionCall: { id, name, args } }, block.thoughtSignature)];
      }
      default:
        return block satisfies never;
    }
  });

const sealed = (part: object, thoughtSignature: string | undefined): object =>
  thoughtSignature === undefined ? part : { ...part, thoughtSignature };

/** Of calls that were made together only the first has a seal, and must have one. */
function firstCallSealed(parts: readonly object[]): object[] {
  const first = parts.findIndex((part) => 'functionCall' in part);
  return parts.map((part, index) => (index === first ? { thoughtSignature: NO_SEAL, ...part } : part));
}
