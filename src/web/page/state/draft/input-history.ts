import type { ConversationView } from '../../../../client/view/view.ts';
import { wordsOf } from '../../../fields.ts';

/**
 * Returns the sent texts of this tab and the prompts and shell lines of the session, newest first, without duplicates.
 */
export function inputHistory(messages: ConversationView['messages'], sentHere: readonly string[]): readonly string[] {
  const inSession = messages.toReversed().map((message) => {
    if (message.role === 'user') return wordsOf(message.content);
    if (message.role !== 'bashExecution') return '';
    return `${message.excludeFromContext ? '!!' : '!'}${message.command}`;
  });
  return [...new Set([...sentHere, ...inSession])].filter((text) => text.trim() !== '');
}
