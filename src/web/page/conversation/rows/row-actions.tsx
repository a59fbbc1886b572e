import type { AgentMessage, ImageContent, UserMessage } from '../../../../protocol/generated/vocabulary.ts';
import { CopyButton } from '../../../code/copy-button.tsx';
import { blocksOf, textOf, wordsOf } from '../../../fields.ts';
import { fork } from '../../actions/sessions/moves.ts';
import { Icon } from '../../icons.tsx';
import { useApp, useSession } from '../../state/app.ts';
import { IMAGE_TYPES } from '../../state/writing/attachment.ts';

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

/** The pictures of a message, as far as models take them. */
const imagesOf = ({ content }: UserMessage): readonly ImageContent[] =>
  blocksOf(content).flatMap(({ type, mimeType, data }) => {
    const image = { type: 'image' as const, mimeType: textOf(mimeType), data: textOf(data) };
    return type === 'image' && IMAGE_TYPES.includes(image.mimeType) ? [image] : [];
  });

/** How many messages of the user with text come after this one. */
const textsAfter = (message: UserMessage, messages: readonly AgentMessage[]): number =>
  messages
    .slice(messages.lastIndexOf(message) + 1)
    .filter((later) => later.role === 'user' && wordsOf(later.content) !== '').length;
