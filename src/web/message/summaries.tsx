import { PlainText } from '../code/plain-text.tsx';
import { type Fields, numberOf, textOf } from '../fields.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { tokens } from '../words.ts';
import { Folded } from './folded.tsx';
import type { ViewProps } from './message.tsx';

/** Where a conversation was made shorter: what stands for it now, folded. */
export function CompactionSummary({ message }: ViewProps) {
  const before = numberOf(message['tokensBefore']);
  return <Summary title={before > 0 ? `Compacted from ${tokens(before)} tokens` : 'Compacted'} message={message} />;
}

/** Where a conversation went on from an earlier place. */
export const BranchSummary = ({ message }: ViewProps) => (
  <Summary title="Came back from another branch" message={message} />
);

function Summary({ title, message }: { readonly title: string; readonly message: Fields }) {
  const text = textOf(message['summary']);
  if (text === '') return <Marker text={title} />;
  return (
    <Folded kind="summary" head={<Title text={title} />}>
      <Markdown text={text} />
    </Folded>
  );
}

const Title = ({ text }: { readonly text: string }) => (
  <span class="marker">
    <span>{text}</span>
  </span>
);

/** A word on what changed from here on. */
export const Marker = ({ text }: { readonly text: string }) => (
  <p class="marker">
    <PlainText text={text.slice(0, 300)} />
  </p>
);
