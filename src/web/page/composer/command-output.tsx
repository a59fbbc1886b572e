import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import type { MessageDraft } from '../state/draft/message-draft.ts';

/** Shows the output of a slash command until the next message. */
export function CommandOutputPanel({ draft }: { readonly draft: MessageDraft }) {
  const output = draft.output.value;
  if (!output) return null;
  return (
    <section class="command-output" aria-label={`Output of ${output.command}`}>
      <header>
        <code>
          <PlainText text={output.command} />
        </code>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Close"
          onClick={() => {
            draft.output.value = undefined;
          }}
        >
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre tabIndex={0} role="status">
        <PlainText text={output.text} />
      </pre>
    </section>
  );
}
