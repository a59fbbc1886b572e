import type {
  ContentBlock,
  ImageContent,
  ToolResultMessage,
  UserMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayable } from '../../replay.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { spokenAnswer } from './answers.ts';
import { withCacheMarks } from './cache-marks.ts';
import type { Quirks } from './quirks.ts';
import type { Part, Spoken } from './spoken.ts';
import { toolIds } from './tool-ids.ts';

/** Everything that is said to the model, its instructions first. */
export function conversation(request: ModelRequest, quirks: Quirks): readonly Spoken[] {
  const known = replayable(request.messages, request.model, toolIds(quirks));
  const spoken = [...instructions(request, quirks), ...inTurn(known, { request, quirks })];
  const bridged = quirks.requiresAssistantAfterToolResult ? withBridges(spoken) : spoken;
  return quirks.cacheControlFormat === 'anthropic' ? withCacheMarks(bridged) : bridged;
}

interface Occasion {
  readonly request: ModelRequest;
  readonly quirks: Quirks;
}

function instructions({ model, systemPrompt }: ModelRequest, { supportsDeveloperRole }: Quirks): Spoken[] {
  const role = model.reasoning && supportsDeveloperRole ? 'developer' : 'system';
  return systemPrompt === '' ? [] : [{ role, content: systemPrompt }];
}

function* inTurn(messages: readonly ModelMessage[], { request, quirks }: Occasion): Generator<Spoken> {
  // Tools can only say words: what they show follows when all of them have spoken.
  let shown: ImageContent[] = [];
  for (const message of messages) {
    if (message.role === 'toolResult') {
      yield result(message, quirks);
      shown.push(...message.content.filter(isImage));
      continue;
    }
    if (shown.length > 0) yield attached(shown);
    shown = [];
    if (message.role === 'user') yield* prompt(message);
    else yield* spokenAnswer(message, { model: request.model, quirks });
  }
  if (shown.length > 0) yield attached(shown);
}

function prompt({ content }: UserMessage): Spoken[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ role: 'user', content }];
  const blocks = content.filter((block) => block.type === 'image' || block.text.trim() !== '');
  if (blocks.length === 0) return [];
  // Not every server takes parts: a string does where there are only words.
  return [{ role: 'user', content: blocks.some(isImage) ? blocks.map(asPart) : wordsOf(blocks) }];
}

function result({ content, toolCallId, toolName }: ToolResultMessage, { requiresToolResultName }: Quirks): Spoken {
  const words = wordsOf(content);
  const instead = content.some(isImage) ? '(see attached image)' : '(no output)';
  return {
    role: 'tool',
    content: words.trim() === '' ? instead : words,
    tool_call_id: toolCallId,
    ...(requiresToolResultName && { name: toolName }),
  };
}

const attached = (images: readonly ImageContent[]): Spoken => ({
  role: 'user',
  content: [{ type: 'text', text: 'Attached image(s) from tool result:' }, ...images.map(asPart)],
});

const isImage = (block: ContentBlock) => block.type === 'image';

const wordsOf = (content: readonly ContentBlock[]) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');

const asPart = (block: ContentBlock): Part =>
  block.type === 'text'
    ? { type: 'text', text: block.text }
    : { type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } };

/** Puts a word of the model between what a tool said and what a user says. */
const withBridges = (messages: readonly Spoken[]): Spoken[] =>
  messages.flatMap((message, index) =>
    message.role === 'user' && messages[index - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'I have read what the tools said.' }, message]
      : [message],
  );
