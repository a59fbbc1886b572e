import type { ConversationView } from '../../../../client/view/view.ts';
import { wordsOf } from '../../../fields.ts';

/** What was said from here and what the user said in the session, the newest first, each once. */
export function inputHistory(messages: ConversationView['messages'], sentHere: readonly string[]): readonly string[] {
  const inSession = messages.toReversed().map((message) => {
    if (message.role === 'user') return wordsOf(message.content);
    if (message.role !== 'bashExecution') return '';
    return `${message.excludeFromContext ? '!!' : '!'}${message.command}`;
  });
  return [...new Set([...sentHere, ...inSession])].filter((text) => text.trim() !== '');
}
