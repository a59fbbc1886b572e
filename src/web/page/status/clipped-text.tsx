import { PlainText } from '../../code/plain-text.tsx';

const MAX_CLIPPED_CHARACTERS = 4000;

/** Clips long text of extensions and notices. */
export const ClippedText = ({ text }: { readonly text: string }) => (
  <PlainText text={text.length > MAX_CLIPPED_CHARACTERS ? `${text.slice(0, MAX_CLIPPED_CHARACTERS)}…` : text} />
);
