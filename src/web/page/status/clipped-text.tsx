import { PlainText } from '../../code/plain-text.tsx';

const MAX_CLIPPED_CHARACTERS = 4000;

/** What is told beside the conversation, as far as anybody reads it there. */
export const ClippedText = ({ text }: { readonly text: string }) => (
  <PlainText text={text.length > MAX_CLIPPED_CHARACTERS ? `${text.slice(0, MAX_CLIPPED_CHARACTERS)}…` : text} />
);
