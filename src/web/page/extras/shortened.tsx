import { PlainText } from '../../code/plain-text.tsx';

const MAX_LENGTH = 4000;

/** What is told beside the conversation, as far as anybody reads it there. */
export const Shortened = ({ text }: { readonly text: string }) => (
  <PlainText text={text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text} />
);
