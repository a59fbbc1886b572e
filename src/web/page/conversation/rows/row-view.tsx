import { useMemo } from 'preact/hooks';
import type { AgentMessage } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { formatDateTime, oneLine } from '../../../format.ts';
import { Message } from '../../../message/message.tsx';
import { ViewScope } from '../../../message/view-state.tsx';
import { useSession } from '../../state/app.ts';
import { RowActions } from './row-actions.tsx';
import { rowContent } from './row-content.ts';
import type { MessageRow } from './rows.ts';

const authors: Readonly<Record<string, string>> = {
  user: 'You',
  assistant: 'Assistant',
  toolResult: 'Tool',
  bashExecution: 'You ran',
};

interface RowViewProps {
  readonly row: MessageRow;
  // Scrolls to another row.
  readonly goTo: (key: number) => void;
}

/** Renders one row: day and model marks, author, message and time. */
export function RowView({ row, goTo }: RowViewProps) {
  const { view } = useSession();
  const shown = useMemo(() => rowContent(row, view), [row, view]);
  const { message, around } = shown.value;
  if (!message) return null;
  const hasAuthor = Object.hasOwn(authors, message.role);
  return (
    <>
      {row.day !== undefined && <Day moment={row.day} />}
      {row.model !== undefined && (
        <p class="divider">
          Model: <PlainText text={oneLine(row.model, 80)} />
        </p>
      )}
      <article class={`turn ${hasAuthor ? message.role : 'aside'}`}>
        {hasAuthor && !row.continues && <h2 class="speaker">{authors[message.role]}</h2>}
        <ViewScope name={row.key}>
          <Message message={message} context={around}>
            <Timestamp message={message} />
            {message.role === 'user' && <RowActions message={message} />}
          </Message>
        </ViewScope>
      </article>
      {row.summary !== undefined && <Compacted onClick={() => goTo(row.summary ?? 0)} />}
    </>
  );
}

function Timestamp({ message: { timestamp } }: { readonly message: AgentMessage }) {
  const absolute = formatDateTime(timestamp);
  return absolute === '' ? null : <time title={absolute}>{timeOfDay(timestamp)}</time>;
}

const Day = ({ moment }: { readonly moment: number }) => (
  <p class="divider">
    <time>{new Date(moment).toLocaleDateString(undefined, { dateStyle: 'full' })}</time>
  </p>
);

const Compacted = ({ onClick }: { readonly onClick: () => void }) => (
  <p class="divider">
    Compacted here
    <button type="button" class="quiet" onClick={onClick}>
      Go to the summary
    </button>
  </p>
);

const timeOfDay = (moment: number) => new Date(moment).toLocaleTimeString(undefined, { timeStyle: 'short' });
