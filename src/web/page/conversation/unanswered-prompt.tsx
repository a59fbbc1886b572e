import { useComputed } from '@preact/signals';
import type { ConversationView } from '../../../client/view/view.ts';
import type { AgentMessage, UserMessage } from '../../../protocol/generated/vocabulary.ts';
import { contentText } from '../../untyped.ts';
import { retryPrompt, send } from '../actions/prompting.ts';
import { AddKeyButton } from '../controls/add-key-button.tsx';
import { useApp, useDraft, useSession } from '../state/app.ts';

/** Reports that the last prompt got no response, with a button that sends it again, or continues after its tools. */
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
      {isKeyRejected(messages.at(-1)) && <AddKeyButton />}
      {prompt && app.may('prompt') && (
        <button type="button" onClick={() => void retryPrompt(session, draft, prompt)}>
          Try again
        </button>
      )}
      {last === 'toolResult' && app.may('prompt') && (
        <button type="button" onClick={() => void send(session, { text: 'Continue.', images: [] }, 'steer')}>
          Continue
        </button>
      )}
    </>
  );
}

/** Whether a model call failed because the provider did not accept its key. */
const isKeyRejected = (message: AgentMessage | undefined): boolean =>
  message?.role === 'assistant' &&
  message.stopReason === 'error' &&
  /^401\b|\bAPI key\b/i.test(message.errorMessage ?? '');

/** Undefined during a run, so that deltas do not redraw. */
const idleMessages = ({ running, compacting, messages }: ConversationView) =>
  running || compacting ? undefined : messages;

/** Returns the last prompt if only failures followed it. */
function lastUnansweredPrompt(messages: readonly AgentMessage[]): UserMessage | undefined {
  const last = messages.findLast((message) => message.role !== 'assistant' || message.stopReason !== 'error');
  return last?.role === 'user' && contentText(last.content) !== '' ? last : undefined;
}
