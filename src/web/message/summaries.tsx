import { PlainText } from '../code/plain-text.tsx';
import { formatTokens } from '../format.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { asNumber, asText, type Untyped } from '../untyped.ts';
import { Folded } from './folded.tsx';
import type { ViewProps } from './message.tsx';

/** A folded compaction summary. */
export function CompactionSummary({ message }: ViewProps) {
  const before = asNumber(message['tokensBefore']);
  return (
    <Summary title={before > 0 ? `Compacted from ${formatTokens(before)} tokens` : 'Compacted'} message={message} />
  );
}

/** A folded summary of an abandoned branch. */
export const BranchSummary = ({ message }: ViewProps) => (
  <Summary title="Came back from another branch" message={message} />
);

function Summary({ title, message }: { readonly title: string; readonly message: Untyped }) {
  const text = asText(message['summary']);
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

/** A line that marks a change of settings. */
export const Marker = ({ text }: { readonly text: string }) => (
  <p class="marker">
    <PlainText text={text.slice(0, 300)} />
  </p>
);
