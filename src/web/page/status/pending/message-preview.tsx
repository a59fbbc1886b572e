import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../words.ts';

/** More of a message is not shown. */
const MAX_PREVIEW_CHARACTERS = 300;

/** What a message that waits begins with. */
export const MessagePreview = ({ text }: { readonly text: string }) => (
  <span class="waiting-words">
    <PlainText text={oneLine(text, MAX_PREVIEW_CHARACTERS)} />
  </span>
);
