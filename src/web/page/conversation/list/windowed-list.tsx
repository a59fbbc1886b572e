import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { isWriting, onGoingUp } from './going-up.ts';
import type { ListWindow } from './list-window.ts';
import type { Keyed } from './measured-rows.ts';

interface WindowedListProps<R extends Keyed> {
  readonly label: string;
  readonly window: ListWindow<R>;
  readonly rows: readonly R[];
  /** Draws a row, again only if the row is another one. */
  readonly draw: (row: R) => ComponentChildren;
  /** What is above all rows. It has the same height at any time. */
  readonly head?: ComponentChildren;
}

/** Rows of any heights that scroll; only those near to what is in sight are there. */
export function WindowedList<R extends Keyed>({ label, window, rows, draw, head }: WindowedListProps<R>) {
  const scroller = useRef<HTMLElement>(null);
  const above = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!scroller.current || !above.current || !below.current) return undefined;
    const detach = window.attach({ scroller: scroller.current, above: above.current, below: below.current });
    const stop = onGoingUp(scroller.current, () => window.leaveEnd());
    return () => {
      stop();
      detach();
    };
  }, [window]);
  const hadFocus = scroller.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    window.settle();
    // What had it may be gone, and its keys would lead nowhere.
    if (hadFocus && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
  });
  const go = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    if (event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (event.key === 'Home') window.toStart();
    else window.toEnd();
  };
  void window.changes.value;
  const { first, end } = window.take(rows);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
    <section ref={scroller} class="list" aria-label={label} tabIndex={0} onKeyDown={go}>
      {head}
      <div ref={above} />
      {rows.slice(first, end).map((row) => (
        <RowPlace key={row.key} window={window} row={row} draw={draw} />
      ))}
      <div ref={below} />
    </section>
  );
}

type RowPlaceProps<R extends Keyed> = Pick<WindowedListProps<R>, 'window' | 'draw'> & { readonly row: R };

function RowPlace<R extends Keyed>({ window, row, draw }: RowPlaceProps<R>) {
  const place = useRef<HTMLDivElement>(null);
  const { key } = row;
  useLayoutEffect(() => (place.current ? window.hold(key, place.current) : undefined), [window, key]);
  const drawn = useMemo(() => draw(row), [draw, row]);
  return (
    <div ref={place} class="list-row">
      {drawn}
    </div>
  );
}
