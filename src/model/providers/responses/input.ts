import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  ToolCall,
  ToolResultMessage,
} from '../../../protocol/generated/vocabulary.ts';
import { replayableMessages } from '../../replay.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { isValidId, signedMessage, signedReasoning, truncatedId } from './signatures.ts';

/** The conversation as a flat list of messages, reasoning, calls and results. */
export const encodeInput = ({ messages, model }: ModelRequest): object[] =>
  replayableMessages(messages, model, portableCallId).flatMap(messageItems);

// Tool call ids of tau hold two ids of the API: the call and its item.
const callId = (id: string): string => id.split('|', 1)[0] ?? id;

const portableCallId = (id: string): string => truncatedId(callId(id).replaceAll(/[^\w-]/g, '_'));

function messageItems(message: ModelMessage, index: number): object[] {
  switch (message.role) {
    case 'user': {
      const content = contentParts(typeof message.content === 'string' ? [textOf(message.content)] : message.content);
      return content.length === 0 ? [] : [{ role: 'user', content }];
    }
    case 'assistant':
      return assistantItems(message, index);
    case 'toolResult':
      return [{ type: 'function_call_output', call_id: callId(message.toolCallId), output: toolOutput(message) }];
    default:
      return message satisfies never;
  }
}

const textOf = (text: string): ContentBlock => ({ type: 'text', text });

const contentParts = (content: readonly ContentBlock[]): object[] =>
  content.flatMap((block): object[] => {
    if (block.type === 'image') {
      return [{ type: 'input_image', detail: 'auto', image_url: `data:${block.mimeType};base64,${block.data}` }];
    }
    return block.text === '' ? [] : [{ type: 'input_text', text: block.text }];
  });

function toolOutput({ content }: ToolResultMessage): string | object[] {
  if (content.some(({ type }) => type === 'image')) return contentParts(content);
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.join('\n') || '(no output)';
}

// The API requires the reasoning that precedes an item with an id of its own, and the item that follows reasoning. So
// its ids are not sent if reasoning is missing, and so is reasoning at the end. A message without such an id, as of
// another model, gets one by its position: servers require an id.
function assistantItems({ content }: AssistantMessage, index: number): object[] {
  const hasAllReasoning = content.every((block) => block.type !== 'thinking' || signedReasoning(block) !== undefined);
  const last = content.findLastIndex((block) => block.type === 'toolCall' || isText(block));
  return content.slice(0, last + 1).flatMap((block, part): object[] => {
    if (block.type === 'toolCall') return [callItem(block, { withId: hasAllReasoning })];
    if (block.type === 'thinking') return [signedReasoning(block)].filter((item) => item !== undefined);
    if (!isText(block)) return [];
    const { id, phase } = signedMessage(block);
    return [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: block.text, annotations: [] }],
        status: 'completed',
        id: hasAllReasoning && id !== undefined ? id : `msg_${index}_${part}`,
        ...(phase ? { phase } : {}),
      },
    ];
  });
}

const isText = (block: AssistantBlock) => block.type === 'text' && block.text !== '';

function callItem({ id, name, arguments: values }: ToolCall, { withId }: { withId: boolean }): object {
  const [, itemId] = id.split('|');
  return {
    type: 'function_call',
    ...(withId && itemId?.startsWith('fc') && isValidId(itemId) ? { id: itemId } : {}),
    call_id: callId(id),
    name,
    arguments: JSON.stringify(values),
  };
}
