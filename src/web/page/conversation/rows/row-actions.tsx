import type { AgentMessage, UserMessage } from '../../../../protocol/generated/vocabulary.ts';
import { CopyButton } from '../../../code/copy-button.tsx';
import { wordsOf } from '../../../fields.ts';
import { fork } from '../../actions/sessions/moves.ts';
import { Icon } from '../../icons.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { imagesOf } from '../../state/writing/said-images.ts';

/** What can be done with something that the user has said. */
export function RowActions({ message }: { readonly message: UserMessage }) {
  const app = useApp();
  const session = useSession();
  const words = () => wordsOf(message.content);
  if (words() === '') return null;
  const forkHere = () => {
    const { unconfirmed, messages } = session.view.peek();
    const images = imagesOf(message);
    void fork(app, { words: words(), images, userMessagesAfter: textsAfter(message, [...unconfirmed, ...messages]) });
  };
  return (
    <>
      <CopyButton text={words} />
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

/** How many messages of the user with text come after this one. */
const textsAfter = (message: UserMessage, messages: readonly AgentMessage[]): number =>
  messages
    .slice(messages.lastIndexOf(message) + 1)
    .filter((later) => later.role === 'user' && wordsOf(later.content) !== '').length;
