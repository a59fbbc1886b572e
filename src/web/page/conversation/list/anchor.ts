import type { Keyed } from './measured-rows.ts';

/** The position of the reader, which stays fixed on the screen when rows above it change. */
export interface Anchor {
  /** The first visible row. */
  readonly key: number;
  /** The distance of its top from the top of the list; negative when out of sight. */
  readonly top: number;
  /** The first visible element of the row, and its distance: a part of a row may grow, too. */
  readonly piece?: { readonly element: Element; readonly top: number } | undefined;
}

/** Returns the anchor for changed rows: its own row, or the nearest remaining one, later rows first. */
export function survivingAnchor(
  anchor: Anchor,
  before: readonly Keyed[],
  indexOf: (key: number) => number | undefined,
): Anchor | undefined {
  if (indexOf(anchor.key) !== undefined) return anchor;
  const at = before.findIndex(({ key }) => key === anchor.key);
  const isPresent = ({ key }: Keyed) => indexOf(key) !== undefined;
  const next = before.slice(at + 1).find(isPresent) ?? before.slice(0, Math.max(0, at)).findLast(isPresent);
  return next && { key: next.key, top: Math.max(0, anchor.top) };
}

/** Returns the first of several stacked elements that reaches below a line. */
export function firstBelow(line: number, elements: ArrayLike<Element>): Element | undefined {
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { bottom } = elements[middle]?.getBoundingClientRect() ?? { bottom: 0 };
    if (bottom > line) high = middle;
    else low = middle + 1;
  }
  return elements[low];
}

/** Returns the first element of a row that starts below the line, or else the smallest that crosses it. */
export function pieceAt(line: number, row: Element): Element {
  let piece = row;
  while (piece.getBoundingClientRect().top < line) {
    const next = firstBelow(line, piece.children);
    if (!next) break;
    piece = next;
  }
  return piece;
}
