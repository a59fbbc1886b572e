// Longer lines are shown as they grow.
const MAX_HELD_BACK_CHARACTERS = 200;
const CONTAINER_MARKS = /^(?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*/;
const UNDECIDED = [
  // Marks alone may become a fence, heading, rule, underline, table row or item.
  /^[-=*+_~`#|:\s>]+$/,
  /^\d{1,9}[.)]?$/,
  /^\[[ xX]?\]?\s*$/,
  /^\[[^\]]*\]:\s*$/,
  /^<[a-z!/-]{0,10}$/i,
  /^<summary>[^<]*(?:<[/a-z]*)?$/i,
];

/** Whether a partial line is too ambiguous to be shown. */
export function isUndecided(line: string, isInFence: boolean): boolean {
  if (line.length > MAX_HELD_BACK_CHARACTERS) return false;
  if (isInFence) return /^\s*(?:`+|~+)$/.test(line);
  const content = line.replace(CONTAINER_MARKS, '');
  return line !== '' && (content === '' || UNDECIDED.some((pattern) => pattern.test(content)));
}
