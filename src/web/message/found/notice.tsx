import { PlainText } from '../../code/plain-text.tsx';

/** What a tool adds about what it left out. */
export const Notice = ({ text }: { readonly text: string }) =>
  text === '' ? null : (
    <p class="note">
      <PlainText text={text} />
    </p>
  );
