// At most so many matches are highlighted.
const MAX_HIGHLIGHTS = 2000;

// A text node and its offset in the whole text.
interface TextPiece {
  readonly node: Text;
  readonly start: number;
}

/** Finds a text within an element, ignoring case and markup. `needle` is in lower case. */
export function findTextRanges(needle: string, within: HTMLElement, limit = MAX_HIGHLIGHTS): Range[] {
  const pieces: TextPiece[] = [];
  let whole = '';
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    pieces.push({ node: node as Text, start: whole.length });
    whole += (node.nodeValue ?? '').toLowerCase();
  }
  let pieceIndex = 0;
  // Offsets are requested in ascending order.
  const pieceAt = (offset: number) => {
    while ((pieces[pieceIndex + 1]?.start ?? Infinity) <= offset) pieceIndex++;
    return pieces[pieceIndex];
  };
  const ranges: Range[] = [];
  for (let start = whole.indexOf(needle); start !== -1 && ranges.length < limit; ) {
    const end = start + needle.length;
    const range = document.createRange();
    const first = pieceAt(start);
    if (first) range.setStart(first.node, offsetIn(first, start));
    const last = pieceAt(end - 1);
    if (last) range.setEnd(last.node, offsetIn(last, end));
    ranges.push(range);
    start = whole.indexOf(needle, end);
  }
  return ranges;
}

/** Lower case can be longer than the original text. */
const offsetIn = ({ node, start }: TextPiece, offset: number) => Math.min(offset - start, node.length);

/** Highlights all matches in the elements, and those of the current element differently. An empty needle removes all highlights. */
export function highlightText(needle: string, elements: Iterable<HTMLElement>, current: HTMLElement | undefined): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.clear();
  if (needle === '') return;
  CSS.highlights.set('found', highlightIn(elements, needle));
  CSS.highlights.set('current', highlightIn(current ? [current] : [], needle));
}

function highlightIn(elements: Iterable<HTMLElement>, needle: string): Highlight {
  const highlight = new Highlight();
  for (const element of elements) {
    for (const range of findTextRanges(needle, element, MAX_HIGHLIGHTS - highlight.size)) highlight.add(range);
    if (highlight.size >= MAX_HIGHLIGHTS) break;
  }
  return highlight;
}

/** Opens all details that hide these ranges. */
export function openDetailsAround(ranges: readonly Range[]): void {
  for (const { startContainer } of ranges) {
    for (let details = startContainer.parentElement?.closest('details'); details; ) {
      details.open = true;
      details = details.parentElement?.closest('details');
    }
  }
}
