import { effect } from '@preact/signals';
import { colour, placesOf, unfold } from '../../../found-text.ts';
import type { ListWindow } from '../list/list-window.ts';
import type { Row } from '../rows/rows.ts';
import type { Finder } from './finder.ts';

/** Colours what was found in the rows that are drawn, whichever these are; the returned function ends that. */
export function followMarks(finder: Finder, list: ListWindow<Row>): () => void {
  let frame: number | undefined;
  const mark = () => {
    frame = undefined;
    const found = finder.hits.peek().flatMap((key) => list.elementOf(key) ?? []);
    colour(finder.needle.peek(), found, list.elementOf(finder.current.peek()));
  };
  const markSoon = () => {
    frame ??= requestAnimationFrame(mark);
  };
  const observer = new MutationObserver(markSoon);
  if (list.scroller) observer.observe(list.scroller, { childList: true, subtree: true, characterData: true });
  const stop = effect(() => {
    void [finder.hits.value, finder.current.value];
    markSoon();
  });
  return () => {
    stop();
    observer.disconnect();
    cancelAnimationFrame(frame ?? 0);
    colour('', [], undefined);
  };
}

/** In so many frames what is folded should be there. */
const PATIENCE = 10;

/** Unfolds what was found in the row that is looked at, and brings the first of it into sight, as soon as it is drawn. */
export function reveal(finder: Finder, list: ListWindow<Row>, patience = PATIENCE): void {
  requestAnimationFrame(() => {
    const row = list.elementOf(finder.current.peek());
    const [first, ...others] = row ? placesOf(finder.needle.peek(), row) : [];
    if (first) {
      unfold([first, ...others]);
      bringIntoSight(first, list);
    } else if (patience > 0) {
      // What was unfolded may hold something that is cut.
      if (row && patience < PATIENCE) unfoldAll(row);
      reveal(finder, list, patience - 1);
    }
  });
}

function bringIntoSight(place: Range, { scroller }: ListWindow<Row>): void {
  if (!scroller) return;
  const sight = scroller.getBoundingClientRect();
  const { top, bottom } = place.getBoundingClientRect();
  if (top < sight.top || bottom > sight.bottom) scroller.scrollTop += top - sight.top - sight.height / 3;
}

/** What is folded may not even be drawn. */
function unfoldAll(row: HTMLElement): void {
  for (const details of row.querySelectorAll('details')) details.open = true;
  for (const more of row.querySelectorAll<HTMLButtonElement>('button.unclip')) more.click();
}
