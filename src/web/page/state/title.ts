import type { ConversationView } from '../../../client/view/view.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { textOf, wordsOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

interface TitleSource extends Pick<ConversationView, 'messages'> {
  readonly name: string | undefined;
  /** Whether these are all messages. */
  readonly isWhole: boolean;
  /** What the list says of the session: more than its messages, where these are only the end of a conversation. */
  readonly summary: SessionSummary | undefined;
  readonly isNew: boolean;
}

/** What a session is called: its name, or what was said in it first, or done. */
export function titleOf({ name, messages, isWhole, summary, isNew }: TitleSource): string {
  const text =
    name || (isWhole && firstInput(messages)) || summary?.name || summary?.title || summary?.firstMessage || '';
  const [line = ''] = text.trim().split('\n', 1);
  return oneLine(line, 100) || (isNew && messages.length === 0 ? 'New session' : 'Session');
}

/** What was said first, or else given to the shell. */
function firstInput(messages: ConversationView['messages']): string {
  const prompt = messages.find(({ role }) => role === 'user');
  if (prompt?.role === 'user') return wordsOf(prompt.content);
  const shellRun = messages.find(({ role }) => role === 'bashExecution');
  return shellRun?.role === 'bashExecution' ? `!${textOf(shellRun.command)}` : '';
}
