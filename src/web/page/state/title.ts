import type { ConversationView } from '../../../client/view/view.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { textOf, wordsOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

interface TitleSource extends Pick<ConversationView, 'messages'> {
  readonly name: string | undefined;
  // Whether `messages` is the whole history.
  readonly isWhole: boolean;
  // The list entry, for sessions whose first messages are not loaded.
  readonly summary: SessionSummary | undefined;
  readonly isNew: boolean;
}

/** Returns the title of the open session: its name, or its first prompt or shell command. */
export function titleOf({ name, messages, isWhole, summary, isNew }: TitleSource): string {
  const text =
    name || (isWhole && firstInput(messages)) || summary?.name || summary?.title || summary?.firstMessage || '';
  const [line = ''] = text.trim().split('\n', 1);
  return oneLine(line, 100) || (isNew && messages.length === 0 ? 'New session' : 'Session');
}

function firstInput(messages: ConversationView['messages']): string {
  const prompt = messages.find(({ role }) => role === 'user');
  if (prompt?.role === 'user') return wordsOf(prompt.content);
  const shellRun = messages.find(({ role }) => role === 'bashExecution');
  return shellRun?.role === 'bashExecution' ? `!${textOf(shellRun.command)}` : '';
}
