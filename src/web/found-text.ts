/** How many places are coloured at most. */
const MAX_MARKS = 2000;

/** A piece of text in an element, and where it begins in the whole. */
interface Piece {
  readonly node: Text;
  readonly start: number;
}

/** The places within an element where a text stands, in whatever case and colours, as many as are coloured; `needle` is in lower case. */
export function placesOf(needle: string, within: HTMLElement, most = MAX_MARKS): Range[] {
  const pieces: Piece[] = [];
  let whole = '';
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    pieces.push({ node: node as Text, start: whole.length });
    whole += (node.nodeValue ?? '').toLowerCase();
  }
  let passed = 0;
  /** Places are asked for from the first to the last. */
  const pieceAt = (place: number) => {
    while ((pieces[passed + 1]?.start ?? Infinity) <= place) passed++;
    return pieces[passed];
  };
  const ranges: Range[] = [];
  for (let at = whole.indexOf(needle); at !== -1 && ranges.length < most; ) {
    const end = at + needle.length;
    const range = document.createRange();
    const first = pieceAt(at);
    if (first) range.setStart(first.node, offsetIn(first, at));
    const last = pieceAt(end - 1);
    if (last) range.setEnd(last.node, offsetIn(last, end));
    ranges.push(range);
    at = whole.indexOf(needle, end);
  }
  return ranges;
}

/** A letter may be longer in lower case. */
const offsetIn = ({ node, start }: Piece, place: number) => Math.min(place - start, node.length);

/** Colours what was found in some elements, and what is looked at otherwise. Without a needle nothing is coloured. */
export function colour(needle: string, found: Iterable<HTMLElement>, lookedAt: HTMLElement | undefined): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.clear();
  if (needle === '') return;
  CSS.highlights.set('found', marksIn(found, needle));
  CSS.highlights.set('looked-at', marksIn(lookedAt ? [lookedAt] : [], needle));
}

function marksIn(elements: Iterable<HTMLElement>, needle: string): Highlight {
  const marks = new Highlight();
  for (const element of elements) {
    for (const place of placesOf(needle, element, MAX_MARKS - marks.size)) marks.add(place);
    if (marks.size >= MAX_MARKS) break;
  }
  return marks;
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
