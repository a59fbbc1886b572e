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

/** Unfolds what was found in the row that is looked at, and brings the first of it into sight. */
export function reveal(finder: Finder, list: ListWindow<Row>): void {
  const row = list.elementOf(finder.current.peek());
  if (!row || !list.scroller) return;
  const places = placesOf(finder.needle.peek(), row);
  unfold(places);
  const [first] = places;
  if (!first) return;
  const sight = list.scroller.getBoundingClientRect();
  const { top, bottom } = first.getBoundingClientRect();
  if (top < sight.top || bottom > sight.bottom) list.scroller.scrollTop += top - sight.top - sight.height / 3;
}
