/** How many places are coloured at most. */
const MAX_MARKS = 2000;

/** Every place within an element where a text stands, in whatever case; `needle` is in lower case. */
export function placesOf(needle: string, within: HTMLElement): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
      const range = document.createRange();
      // A letter may be longer in lower case.
      const length = node.nodeValue?.length ?? 0;
      range.setStart(node, Math.min(at, length));
      range.setEnd(node, Math.min(at + needle.length, length));
      ranges.push(range);
    }
  }
  return ranges;
}

/** Colours what was found in some elements, and what is looked at otherwise. Without a needle nothing is coloured. */
export function colour(needle: string, found: Iterable<HTMLElement>, lookedAt: HTMLElement | undefined): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.clear();
  if (needle === '') return;
  const ranges: Range[] = [];
  for (const element of found) {
    ranges.push(...placesOf(needle, element));
    if (ranges.length > MAX_MARKS) break;
  }
  CSS.highlights.set('found', new Highlight(...ranges));
  CSS.highlights.set('looked-at', new Highlight(...(lookedAt ? placesOf(needle, lookedAt) : [])));
}

/** Unfolds everything that hides these places. */
export function unfold(places: readonly Range[]): void {
  for (const { startContainer } of places) {
    for (let details = startContainer.parentElement?.closest('details'); details; ) {
      details.open = true;
      details = details.parentElement?.closest('details');
    }
  }
}
