import type { AgentMessage, UserMessage } from '../../../../protocol/generated/vocabulary.ts';
import { CopyButton } from '../../../code/copy-button.tsx';
import { contentText } from '../../../untyped.ts';
import { fork } from '../../actions/sessions/clone-and-fork.ts';
import { Icon } from '../../icons.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { imagesOf } from '../../state/draft/attachment.ts';

/** Copy and fork buttons of a user message. */
export function RowActions({ message }: { readonly message: UserMessage }) {
  const app = useApp();
  const session = useSession();
  const text = () => contentText(message.content);
  if (text() === '') return null;
  const forkHere = () => {
    const { unconfirmed, messages } = session.view.peek();
    const images = imagesOf(message);
    void fork(app, {
      messageText: text(),
      images,
      userMessagesAfter: promptsAfter(message, [...unconfirmed, ...messages]),
    });
  };
  return (
    <>
      <CopyButton text={text} />
      {app.may('prompt') && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Fork from here"
          title="Fork from here"
          onClick={forkHere}
        >
          <Icon name="fork" />
        </button>
      )}
    </>
  );
}

/** Counts the user messages with text after this one. */
const promptsAfter = (message: UserMessage, messages: readonly AgentMessage[]): number =>
  messages
    .slice(messages.lastIndexOf(message) + 1)
    .filter((later) => later.role === 'user' && contentText(later.content) !== '').length;
