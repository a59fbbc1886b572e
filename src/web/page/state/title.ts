import type { View } from '../../../client/view.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { wordsOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

interface Known extends Pick<View, 'messages'> {
  readonly name: string | undefined;
  /** Whether these are all messages. */
  readonly isWhole: boolean;
  /** What the list says of the session: more than its messages, where these are only the end of a conversation. */
  readonly summary: SessionSummary | undefined;
  readonly isNew: boolean;
}

/** What a session is called: its name, or what was said in it first. */
export function titleOf({ name, messages, isWhole, summary, isNew }: Known): string {
  const first = isWhole ? messages.find(({ role }) => role === 'user') : undefined;
  const said = first?.role === 'user' ? wordsOf(first.content) : '';
  const words = name || said || summary?.name || summary?.title || summary?.firstMessage || '';
  const [line = ''] = words.trim().split('\n', 1);
  return oneLine(line, 100) || (isNew && messages.length === 0 ? 'New session' : 'Session');
}
