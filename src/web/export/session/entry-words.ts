import { blocksOf, type Fields, fieldsOf, listOf, textOf, wordsOf } from '../../fields.ts';
import { blockWords, messageWords } from '../../message/message-words.ts';
import { oneLine } from '../../words.ts';
import type { Entry } from './session.ts';

/** What an entry is about, in a line. */
export function titleOf({ kind, type, fields, message }: Entry, callOf: (id: string) => Fields | undefined): string {
  switch (kind) {
    case 'user':
      return unmarked(wordsOf(message['content'])) || '(a picture)';
    case 'assistant':
      return (
        unmarked(wordsOf(message['content'])) ||
        toolNames(message) ||
        unmarked(textOf(message['errorMessage'])) ||
        '(nothing said)'
      );
    case 'toolResult':
      return oneLine(`${textOf(message['toolName'])} ${aboutCall(callOf(textOf(message['toolCallId'])))}`, 120);
    case 'bashExecution':
      return oneLine(textOf(message['command']), 120);
    case 'compaction':
      return `Compacted: ${unmarked(textOf(fields['summary']))}`;
    case 'branch_summary':
      return `Came back: ${unmarked(textOf(fields['summary']))}`;
    case 'model_change':
      return `Model: ${textOf(fields['modelId'])}`;
    case 'thinking_level_change':
      return `Thinking: ${textOf(fields['thinkingLevel'])}`;
    case 'label':
      return `Label: ${textOf(fields['label'])}`;
    case 'session_info':
      return `Named: ${textOf(fields['name'])}`;
    default:
      return oneLine(`${type.replaceAll('_', ' ')} ${allWords({ fields, message })}`, 120);
  }
}

/** One line without the marks of markdown. */
const unmarked = (text: string) => oneLine(text.slice(0, 600).replaceAll(/[`*#]+/g, ''), 120);

const toolNames = (message: Fields) =>
  listOf(message['content'])
    .filter(({ type }) => type === 'toolCall')
    .map(({ name }) => textOf(name))
    .join(', ');

function aboutCall(call: Fields | undefined): string {
  const about = fieldsOf(call?.['arguments']);
  return textOf(about['command'] ?? about['path'] ?? Object.values(about).find((value) => typeof value === 'string'));
}

/** Everything of an entry that can be searched for. */
export function allWords({ fields, message }: Pick<Entry, 'fields' | 'message'>): string {
  const others = [fields['summary'], fields['name'], fields['label'], fields['modelId']].map(textOf);
  const words = [messageWords(message), ...blocksOf(fields['content']).map(blockWords), ...others];
  return words.filter(Boolean).join('\n');
}
