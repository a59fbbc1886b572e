import { effect } from '@preact/signals';
import { findTextRanges, highlightText, openDetailsAround } from '../../../text-search.ts';
import type { ListWindow } from '../list/list-window.ts';
import type { ListRow } from '../rows/run-folds.ts';
import type { Finder } from './finder.ts';

/** Highlights the matches in all drawn rows; returns a function that stops this. */
export function highlightMatches(finder: Finder, list: ListWindow<ListRow>): () => void {
  let frame: number | undefined;
  const highlight = () => {
    frame = undefined;
    const found = finder.hits.peek().flatMap((key) => list.elementOf(key) ?? []);
    highlightText(finder.needle.peek(), found, list.elementOf(finder.current.peek()));
  };
  const scheduleHighlight = () => {
    frame ??= requestAnimationFrame(highlight);
  };
  const observer = new MutationObserver(scheduleHighlight);
  if (list.scroller) observer.observe(list.scroller, { childList: true, subtree: true, characterData: true });
  const stop = effect(() => {
    void [finder.hits.value, finder.current.value];
    scheduleHighlight();
  });
  return () => {
    stop();
    observer.disconnect();
    cancelAnimationFrame(frame ?? 0);
    highlightText('', [], undefined);
  };
}

// Frames to wait until folded content is drawn.
const MAX_REVEAL_FRAMES = 10;

/** Unfolds the current match and scrolls it into view as soon as it is drawn. */
export function revealMatch(finder: Finder, list: ListWindow<ListRow>, framesLeft = MAX_REVEAL_FRAMES): void {
  requestAnimationFrame(() => {
    const row = list.elementOf(finder.current.peek());
    const [first, ...others] = row ? findTextRanges(finder.needle.peek(), row) : [];
    if (first) {
      openDetailsAround([first, ...others]);
      scrollIntoSight(first, list);
    } else if (framesLeft > 0) {
      // Unfolded content may contain clipped text.
      if (row && framesLeft < MAX_REVEAL_FRAMES) unfoldAll(row);
      revealMatch(finder, list, framesLeft - 1);
    }
  });
}

function scrollIntoSight(match: Range, { scroller }: ListWindow<ListRow>): void {
  if (!scroller) return;
  const sight = scroller.getBoundingClientRect();
  const { top, bottom } = match.getBoundingClientRect();
  if (top < sight.top || bottom > sight.bottom) scroller.scrollTop += top - sight.top - sight.height / 3;
}

/** Folded content may not be rendered at all. */
function unfoldAll(row: HTMLElement): void {
  for (const details of row.querySelectorAll('details')) details.open = true;
  for (const more of row.querySelectorAll<HTMLButtonElement>('button.unclip')) more.click();
}
