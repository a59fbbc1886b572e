/** Longer lines are shown as they grow. */
const MAX_LENGTH = 200;
const AROUND = /^(?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*/;
const UNDECIDED = [
  // Marks alone may become a fence, a heading, a rule, the line below a heading or a row of a table, or an item.
  /^[-=*+_~`#|:\s>]+$/,
  /^\d{1,9}[.)]?$/,
  /^\[[ xX]?\]?\s*$/,
  /^\[[^\]]*\]:\s*$/,
  /^<[a-z!/-]{0,10}$/i,
  /^<summary>[^<]*(?:<[/a-z]*)?$/i,
];

/** Whether the beginning of a line can still become so many things that it is better not shown yet. */
export function isUndecided(line: string, isInFence: boolean): boolean {
  if (line.length > MAX_LENGTH) return false;
  if (isInFence) return /^\s*(?:`+|~+)$/.test(line);
  const words = line.replace(AROUND, '');
  return line !== '' && (words === '' || UNDECIDED.some((pattern) => pattern.test(words)));
}
