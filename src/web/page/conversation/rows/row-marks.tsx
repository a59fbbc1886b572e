import type { ComponentChildren } from 'preact';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../format.ts';
import type { MessageRow } from './rows.ts';

interface RowMarksProps {
  readonly row: Pick<MessageRow, 'day' | 'model' | 'summary'>;
  // Scrolls to another row.
  readonly goTo: (key: number) => void;
  readonly children: ComponentChildren;
}

/** The dividers around a row: its day, its model, and a compaction after it. */
export const RowMarks = ({ row: { day, model, summary }, goTo, children }: RowMarksProps) => (
  <>
    {day !== undefined && (
      <p class="divider">
        <time>{new Date(day).toLocaleDateString(undefined, { dateStyle: 'full' })}</time>
      </p>
    )}
    {model !== undefined && (
      <p class="divider">
        Model: <PlainText text={oneLine(model, 80)} />
      </p>
    )}
    {children}
    {summary !== undefined && (
      <p class="divider">
        Compacted here
        <button type="button" class="quiet" onClick={() => goTo(summary)}>
          Go to the summary
        </button>
      </p>
    )}
  </>
);
