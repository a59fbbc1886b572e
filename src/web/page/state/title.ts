import type { ConversationView } from '../../../client/view/view.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { textOf, wordsOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

interface Known extends Pick<ConversationView, 'messages'> {
  readonly name: string | undefined;
  /** Whether these are all messages. */
  readonly isWhole: boolean;
  /** What the list says of the session: more than its messages, where these are only the end of a conversation. */
  readonly summary: SessionSummary | undefined;
  readonly isNew: boolean;
}

/** What a session is called: its name, or what was said in it first, or done. */
export function titleOf({ name, messages, isWhole, summary, isNew }: Known): string {
  const words =
    name || (isWhole && firstWords(messages)) || summary?.name || summary?.title || summary?.firstMessage || '';
  const [line = ''] = words.trim().split('\n', 1);
  return oneLine(line, 100) || (isNew && messages.length === 0 ? 'New session' : 'Session');
}

/** What was said first, or else given to the shell. */
function firstWords(messages: ConversationView['messages']): string {
  const said = messages.find(({ role }) => role === 'user');
  if (said?.role === 'user') return wordsOf(said.content);
  const ran = messages.find(({ role }) => role === 'bashExecution');
  return ran?.role === 'bashExecution' ? `!${textOf(ran.command)}` : '';
}
