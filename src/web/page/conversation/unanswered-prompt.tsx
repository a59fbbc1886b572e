import { useComputed } from '@preact/signals';
import type { ConversationView } from '../../../client/view/view.ts';
import type { AgentMessage, UserMessage } from '../../../protocol/generated/vocabulary.ts';
import { wordsOf } from '../../fields.ts';
import { retryPrompt } from '../actions/prompting.ts';
import { useApp, useSession, useDraft } from '../state/app.ts';

/** Says it where nothing came of what was said last, and lets it be asked again. */
export function UnansweredPrompt() {
  const app = useApp();
  const session = useSession();
  const draft = useDraft();
  const messages = useComputed(() => idleMessages(session.view.value)).value;
  if (!messages || !session.isLoaded.value) return null;
  const last = messages.at(-1)?.role;
  const prompt = lastUnansweredPrompt(messages);
  return (
    <>
      {(last === 'toolResult' || (last === 'user' && prompt)) && <span>The run ended before an answer came.</span>}
      {prompt && app.may('prompt') && (
        <button type="button" onClick={() => void retryPrompt(session, draft, prompt)}>
          Try again
        </button>
      )}
    </>
  );
}

/** Undefined while something is under way: then nothing is drawn with every word. */
const idleMessages = ({ running, compacting, messages }: ConversationView) => (running || compacting ? undefined : messages);

/** What was said last, if nothing but failures came of it. */
function lastUnansweredPrompt(messages: readonly AgentMessage[]): UserMessage | undefined {
  const last = messages.findLast((message) => message.role !== 'assistant' || message.stopReason !== 'error');
  return last?.role === 'user' && wordsOf(last.content) !== '' ? last : undefined;
}
