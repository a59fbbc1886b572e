import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import type { Writing } from '../state/writing/writing.ts';

/** What a command had to say, until something else is said. */
export function ReplyPanel({ writing }: { readonly writing: Writing }) {
  const reply = writing.reply.value;
  if (!reply) return null;
  return (
    <section class="reply" aria-label={`What ${reply.command} says`}>
      <header>
        <code>
          <PlainText text={reply.command} />
        </code>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Close"
          onClick={() => {
            writing.reply.value = undefined;
          }}
        >
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
      <pre tabIndex={0} role="status">
        <PlainText text={reply.text} />
      </pre>
    </section>
  );
}
