import { formatCount, formatDuration } from '../../../format.ts';
import { Icon } from '../../icons.tsx';
import { RowMarks } from './row-marks.tsx';
import type { FoldRow } from './run-folds.ts';

interface RunFoldProps {
  readonly row: FoldRow;
  readonly goTo: (key: number) => void;
  readonly onToggle: () => void;
}

/** The line of a folded run; a click shows its steps. */
export function RunFold({ row, goTo, onToggle }: RunFoldProps) {
  const { steps, durationMs, changedFiles, failures } = row.run;
  const parts = [
    formatCount(steps, 'step'),
    durationMs > 0 && formatDuration(durationMs),
    changedFiles > 0 && `${formatCount(changedFiles, 'file')} changed`,
  ];
  return (
    <RowMarks row={row} goTo={goTo}>
      <article class="turn assistant">
        {!row.continues && <h2 class="speaker">Assistant</h2>}
        <button type="button" class="quiet run-fold" aria-expanded={row.isOpen} onClick={onToggle}>
          <Icon name="down" />
          <span>{parts.filter(Boolean).join(' · ')}</span>
          {[...failures].map(([ending, count]) => (
            <span class="failure">
              {count} {ending}
            </span>
          ))}
        </button>
      </article>
    </RowMarks>
  );
}
