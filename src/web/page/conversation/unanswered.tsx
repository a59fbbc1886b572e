import { useComputed } from '@preact/signals';
import type { ConversationView } from '../../../client/view/view.ts';
import type { AgentMessage, UserMessage } from '../../../protocol/generated/vocabulary.ts';
import { wordsOf } from '../../fields.ts';
import { tryAgain } from '../actions/prompting.ts';
import { useApp, useSession, useWriting } from '../state/app.ts';

/** Says it where nothing came of what was said last, and lets it be asked again. */
export function Unanswered() {
  const app = useApp();
  const session = useSession();
  const writing = useWriting();
  const messages = useComputed(() => atRest(session.view.value)).value;
  if (!messages || !session.isKnown.value) return null;
  const last = messages.at(-1)?.role;
  const question = questionIn(messages);
  return (
    <>
      {(last === 'toolResult' || (last === 'user' && question)) && <span>The run ended before an answer came.</span>}
      {question && app.may('prompt') && (
        <button type="button" onClick={() => void tryAgain(session, writing, question)}>
          Try again
        </button>
      )}
    </>
  );
}

/** Undefined while something is under way: then nothing is drawn with every word. */
const atRest = ({ running, compacting, messages }: ConversationView) => (running || compacting ? undefined : messages);

/** What was said last, if nothing but failures came of it. */
function questionIn(messages: readonly AgentMessage[]): UserMessage | undefined {
  const last = messages.findLast((message) => message.role !== 'assistant' || message.stopReason !== 'error');
  return last?.role === 'user' && wordsOf(last.content) !== '' ? last : undefined;
}
