import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ListWindow } from './list-window.ts';
import type { Keyed } from './measured-rows.ts';
import { isTextField } from './scroll-intent.ts';

interface WindowedListProps<R extends Keyed> {
  readonly label: string;
  readonly window: ListWindow<R>;
  readonly rows: readonly R[];
  // Called again only for a changed row.
  readonly draw: (row: R) => ComponentChildren;
  // The content above all rows; its height must be constant.
  readonly head?: ComponentChildren;
}

/** A scrollable list that renders only the rows near the viewport. */
export function WindowedList<R extends Keyed>({ label, window, rows, draw, head }: WindowedListProps<R>) {
  const scroller = useRef<HTMLElement>(null);
  const above = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!scroller.current || !above.current || !below.current) return undefined;
    return window.attach({ scroller: scroller.current, above: above.current, below: below.current });
  }, [window]);
  const hadFocus = scroller.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    window.layout();
    // The focussed element may be gone, and keys would go nowhere.
    if (hadFocus && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTextField(event.target)) return;
    if (event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (event.key === 'Home') window.toStart();
    else window.toEnd();
  };
  void window.changes.value;
  const { first, end } = window.setRows(rows);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <section ref={scroller} class="list" aria-label={label} tabIndex={0} onKeyDown={onKeyDown}>
      {head}
      <div ref={above} />
      {rows.slice(first, end).map((row) => (
        <RowSlot key={row.key} window={window} row={row} draw={draw} />
      ))}
      <div ref={below} />
    </section>
  );
}

type RowSlotProps<R extends Keyed> = Pick<WindowedListProps<R>, 'window' | 'draw'> & { readonly row: R };

function RowSlot<R extends Keyed>({ window, row, draw }: RowSlotProps<R>) {
  const slot = useRef<HTMLDivElement>(null);
  const { key } = row;
  useLayoutEffect(() => (slot.current ? window.mount(key, slot.current) : undefined), [window, key]);
  const drawn = useMemo(() => draw(row), [draw, row]);
  return (
    <div ref={slot} class="list-row">
      {drawn}
    </div>
  );
}
