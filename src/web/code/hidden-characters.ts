/**
 * Runs of a character that shows nothing, or shows what follows in another order than it is; not of those that join
 * letters. An expression takes no run of any length at once.
 */
const HIDDEN = /((?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}])\1{0,99999}/gu;

/** What is hidden behind so many parts is only counted. */
const MAX_PARTS = 2000;

/** A part of a text: to be read as it is, or hidden characters by their number. */
export interface TextPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** A text as parts of which every character is to be seen. */
export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  const add = (part: string, isHidden: boolean) => part && parts.push({ text: part, isHidden });
  let [end, more, rest] = [0, 0, ''];
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    const count = [...run].length;
    rest += text.slice(end, index);
    end = index + run.length;
    if (parts.length < MAX_PARTS) {
      add(rest, false);
      add(nameOf(run) + (count > 1 ? ` ×${count}` : ''), true);
      rest = '';
    } else more += count;
  }
  if (more > 0) add(`${more} more`, true);
  add(rest + text.slice(end), false);
  return parts;
}

/** A text of which every character is to be seen, where it can be nothing but text. */
export const visibleText = (text: string): string =>
  visibleParts(text)
    .map((part) => part.text)
    .join('');

const nameOf = (run: string) => `U+${run.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
