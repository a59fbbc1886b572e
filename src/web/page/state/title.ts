import type { View } from '../../../client/view.ts';
import { wordsOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

/** What a session is called: its name, or what was said in it first. */
export function titleOf({ state, messages, earlier }: View): string {
  const first = earlier ? undefined : messages.find(({ role }) => role === 'user');
  const said = first?.role === 'user' ? wordsOf(first.content) : '';
  return oneLine(state.sessionName || said, 100) || (messages.length > 0 ? 'Session' : 'New session');
}
