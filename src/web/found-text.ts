/** How many places are coloured at most. */
const MAX_MARKS = 2000;

/** A piece of text in an element, and where it begins in the whole. */
interface Piece {
  readonly node: Text;
  readonly start: number;
}

/** Every place within an element where a text stands, in whatever case and colours; `needle` is in lower case. */
export function placesOf(needle: string, within: HTMLElement): Range[] {
  const pieces: Piece[] = [];
  let whole = '';
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    pieces.push({ node: node as Text, start: whole.length });
    whole += (node.nodeValue ?? '').toLowerCase();
  }
  const ranges: Range[] = [];
  for (let at = whole.indexOf(needle); at !== -1; at = whole.indexOf(needle, at + needle.length)) {
    ranges.push(rangeOf(pieces, at, at + needle.length));
  }
  return ranges;
}

function rangeOf(pieces: readonly Piece[], start: number, end: number): Range {
  const range = document.createRange();
  const [first, last] = [pieceAt(pieces, start), pieceAt(pieces, end - 1)];
  if (first) range.setStart(first.node, offsetIn(first, start));
  if (last) range.setEnd(last.node, offsetIn(last, end));
  return range;
}

const pieceAt = (pieces: readonly Piece[], place: number) => pieces.findLast(({ start }) => start <= place);

/** A letter may be longer in lower case. */
const offsetIn = ({ node, start }: Piece, place: number) => Math.min(place - start, node.length);

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
