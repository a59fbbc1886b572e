import type { View } from '../../../client/view.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { wordsOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

interface Beside {
  /** What the list says of the session: more than the view, where that has only the end of a conversation. */
  readonly summary: SessionSummary | undefined;
  readonly isNew: boolean;
}

/** What a session is called: its name, or what was said in it first. */
export function titleOf({ state, messages, earlier }: View, { summary, isNew }: Beside): string {
  const first = earlier ? undefined : messages.find(({ role }) => role === 'user');
  const said = first?.role === 'user' ? wordsOf(first.content) : '';
  const words = state.sessionName || said || summary?.name || summary?.title || summary?.firstMessage || '';
  const [line = ''] = words.trim().split('\n');
  return oneLine(line, 100) || (isNew && messages.length === 0 ? 'New session' : 'Session');
}
