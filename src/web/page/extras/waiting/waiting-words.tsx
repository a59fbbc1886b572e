import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../words.ts';

/** More of a message is not shown. */
const MAX_WORDS = 300;

/** What a message that waits begins with. */
export const WaitingWords = ({ text }: { readonly text: string }) => (
  <span class="waiting-words">
    <PlainText text={oneLine(text, MAX_WORDS)} />
  </span>
);
