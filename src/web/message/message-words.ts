import { blocksOf, type Fields, fieldsOf, listOf, prettyJson, textOf, wordsOf } from '../fields.ts';

/** Everything of a message that can be searched for. */
export function messageWords(message: Fields): string {
  switch (message['role']) {
    case 'bashExecution':
      return joined([message['command'], message['output']]);
    case 'assistant':
      return joined([...listOf(message['content']).map(blockWords), message['errorMessage']]);
    case 'toolResult':
      return joined([message['toolName'], wordsOf(message['content']), fieldsOf(message['details'])['diff']]);
    default:
      return joined([...blocksOf(message['content']).map(blockWords), message['summary']]);
  }
}

/** What a block of a message says, thinks or asks of a tool. */
export function blockWords(block: Fields): string {
  if (block['type'] !== 'toolCall') return textOf(block['text']) || textOf(block['thinking']);
  const values = Object.values(fieldsOf(block['arguments']));
  return [block['name'], ...values].map((value) => (typeof value === 'string' ? value : prettyJson(value))).join('\n');
}

const joined = (parts: readonly unknown[]) => parts.map(textOf).filter(Boolean).join('\n');
