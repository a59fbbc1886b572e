import { asObject, asObjects, asText, contentBlocks, contentText, prettyJson, type Untyped } from '../untyped.ts';

/** The text of a message that a search matches. */
export function searchableText(message: Untyped): string {
  switch (message['role']) {
    case 'bashExecution':
      return joinTexts([message['command'], message['output']]);
    case 'assistant':
      return joinTexts([...asObjects(message['content']).map(blockText), message['errorMessage']]);
    case 'toolResult':
      return joinTexts([message['toolName'], contentText(message['content']), asObject(message['details'])['diff']]);
    default:
      return joinTexts([...contentBlocks(message['content']).map(blockText), message['summary']]);
  }
}

/** The text, thinking or tool arguments of a block. */
export function blockText(block: Untyped): string {
  if (block['type'] !== 'toolCall') return asText(block['text']) || asText(block['thinking']);
  const values = Object.values(asObject(block['arguments']));
  return [block['name'], ...values].map((value) => (typeof value === 'string' ? value : prettyJson(value))).join('\n');
}

const joinTexts = (parts: readonly unknown[]) => parts.map(asText).filter(Boolean).join('\n');
