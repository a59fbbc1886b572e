import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../words.ts';

const MAX_PREVIEW_CHARACTERS = 300;

/** The beginning of a pending message. */
export const MessagePreview = ({ text }: { readonly text: string }) => (
  <span class="waiting-text">
    <PlainText text={oneLine(text, MAX_PREVIEW_CHARACTERS)} />
  </span>
);
