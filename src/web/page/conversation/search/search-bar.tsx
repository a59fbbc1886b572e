import { type ReadonlySignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { formatCount } from '../../../format.ts';
import { Icon, type IconName } from '../../icons.tsx';
import { isComposing } from '../../ime.ts';
import { useApp } from '../../state/app.ts';
import type { EarlierMessages } from '../earlier-messages.ts';
import type { ListWindow } from '../list/list-window.ts';
import type { MessageRow } from '../rows/rows.ts';
import type { ListRow, RunFolds } from '../rows/run-folds.ts';
import { Finder } from './finder.ts';
import { highlightMatches, revealMatch } from './highlight-matches.ts';

interface SearchBarProps {
  readonly rows: ReadonlySignal<readonly MessageRow[]>;
  readonly list: ListWindow<ListRow>;
  readonly folds: RunFolds;
  readonly earlier: EarlierMessages;
  readonly goTo: (key: number) => void;
}

/** The search bar. It searches the whole conversation, also messages that are not drawn or not loaded. */
export function SearchBar({ rows, list, folds, earlier, goTo }: SearchBarProps) {
  const { sheet } = useApp();
  const field = useRef<HTMLInputElement>(null);
  const finder = useMemo(() => new Finder(rows), [rows]);
  // Text typed right after the shortcut goes to the field.
  useLayoutEffect(() => {
    const before = document.activeElement;
    field.current?.focus();
    return () => before instanceof HTMLElement && before.focus({ preventScroll: true });
  }, []);
  useLayoutEffect(() => {
    void earlier.loadAll();
    return () => earlier.stop();
  }, [earlier]);
  useEffect(() => highlightMatches(finder, list), [finder, list]);
  // Newly loaded messages may contain the first match.
  useSignalEffect(() => {
    if (finder.hits.value.length > 0) go(finder.goToFirst());
  });
  const go = (key: number | undefined) => {
    if (key === undefined) return;
    goTo(key);
    revealMatch(finder, list);
  };
  const close = () => {
    sheet.value = undefined;
  };
  const keyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter') go(finder.step(event.shiftKey ? -1 : 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <search class="find" onKeyDown={keyDown}>
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Search in the conversation"
        placeholder="Search in the conversation"
        onInput={({ currentTarget }) => finder.find(currentTarget.value, folds.firstMessage(list.topKey))}
      />
      <Position finder={finder} earlier={earlier} />
      <Step label="Previous match" icon="up" onClick={() => go(finder.step(-1))} />
      <Step label="Next match" icon="down" onClick={() => go(finder.step(1))} />
      <Step label="Close search" icon="close" onClick={close} />
    </search>
  );
}

interface StepProps {
  readonly label: string;
  readonly icon: IconName;
  readonly onClick: () => void;
}

const Step = ({ label, icon, onClick }: StepProps) => (
  <button type="button" class="quiet icon-only" aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} />
  </button>
);

/** The number of the current match, or the progress of loading. */
function Position({ finder, earlier }: { readonly finder: Finder; readonly earlier: EarlierMessages }) {
  const reading = earlier.reading.value;
  const hits = finder.hits.value;
  const at = hits.indexOf(finder.current.value ?? -1) + 1;
  const count =
    finder.needle.value === ''
      ? ''
      : hits.length === 0
        ? 'No matches'
        : `${at} of ${formatCount(hits.length, 'message')}`;
  if (reading.kind === 'reading') {
    const { known, total } = reading;
    return (
      <span class="find-state">
        <span class="note">
          {known === undefined ? 'Reading…' : `Reading ${number(known)} of ${number(total ?? known)} messages…`}
        </span>
        <button type="button" class="quiet" onClick={() => earlier.stop()}>
          Stop reading
        </button>
      </span>
    );
  }
  return (
    <span class="find-state" role="status">
      <span class="note">{reading.kind === 'failed' ? 'Not everything could be read' : count}</span>
    </span>
  );
}

const number = (count: number) => count.toLocaleString('en');
