import { PlainText } from '../code/plain-text.tsx';

/** A note about omitted output. */
export const Notice = ({ text }: { readonly text: string }) =>
  text === '' ? null : (
    <p class="note">
      <PlainText text={text} />
    </p>
  );
