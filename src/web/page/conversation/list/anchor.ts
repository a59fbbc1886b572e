import type { Keyed } from './measured-rows.ts';

/** What the reader looks at: it stays where it is on the screen, whatever happens above it. */
export interface Anchor {
  /** The first row in sight. */
  readonly key: number;
  /** How far its top is below the top of the list; negative where that is out of sight. */
  readonly top: number;
  /** The first piece of it that is in sight, and where: a part of a row may grow, too. */
  readonly piece?: { readonly element: Element; readonly top: number } | undefined;
}

/** An anchor for other rows: its own row, or the nearest one that is still there, first those behind it. */
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

/** The first of some elements, one below the other, that reaches below a line. */
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

/** The first piece of a row that begins in sight, or else the smallest that reaches into it. */
export function pieceAt(line: number, row: Element): Element {
  let piece = row;
  while (piece.getBoundingClientRect().top < line) {
    const next = firstBelow(line, piece.children);
    if (!next) break;
    piece = next;
  }
  return piece;
}
