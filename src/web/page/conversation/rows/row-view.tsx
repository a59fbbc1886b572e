import { useMemo } from 'preact/hooks';
import type { AgentMessage } from '../../../../protocol/generated/vocabulary.ts';
import { formatDateTime } from '../../../format.ts';
import { Message } from '../../../message/message.tsx';
import { ViewScope } from '../../../message/view-state.tsx';
import { useSession } from '../../state/app.ts';
import { RowActions } from './row-actions.tsx';
import { rowContent } from './row-content.ts';
import { RowMarks } from './row-marks.tsx';
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
    <RowMarks row={row} goTo={goTo}>
      <article class={`turn ${hasAuthor ? message.role : 'aside'}`}>
        {hasAuthor && !row.continues && <h2 class="speaker">{authors[message.role]}</h2>}
        <ViewScope name={row.key}>
          <Message message={message} context={around}>
            <Timestamp message={message} />
            {message.role === 'user' && <RowActions message={message} />}
          </Message>
        </ViewScope>
      </article>
    </RowMarks>
  );
}

function Timestamp({ message: { timestamp } }: { readonly message: AgentMessage }) {
  const absolute = formatDateTime(timestamp);
  return absolute === '' ? null : <time title={absolute}>{timeOfDay(timestamp)}</time>;
}

const timeOfDay = (moment: number) => new Date(moment).toLocaleTimeString(undefined, { timeStyle: 'short' });
