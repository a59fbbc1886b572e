import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import type { MessageDraft } from '../state/draft/message-draft.ts';

/** What a command had to say, until something else is said. */
export function CommandOutputPanel({ writing }: { readonly writing: MessageDraft }) {
  const output = writing.output.value;
  if (!output) return null;
  return (
    <section class="reply" aria-label={`What ${output.command} says`}>
      <header>
        <code>
          <PlainText text={output.command} />
        </code>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Close"
          onClick={() => {
            writing.output.value = undefined;
          }}
        >
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
      <pre tabIndex={0} role="status">
        <PlainText text={output.text} />
      </pre>
    </section>
  );
}
