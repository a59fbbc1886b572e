/** How blocks begin, in the words of a line that is not set in. All of these take time in proportion to the line. */

/** The marks of a fence, and what is said of the code. */
export function fenceStart(words: string): { readonly fence: string; readonly info: string } | undefined {
  const [, fence, info = ''] = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(words) ?? [];
  return fence === undefined ? undefined : { fence, info: info.trim() };
}

export function headingStart(words: string): { readonly level: number; readonly text: string } | undefined {
  const [, marks] = /^(#{1,6})(?=[ \t]|$)/.exec(words) ?? [];
  return marks === undefined ? undefined : { level: marks.length, text: withoutClosing(words.slice(marks.length)) };
}

/** The text of a heading without the marks that may stand at its end as well. */
function withoutClosing(words: string): string {
  const text = words.trim();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || /\s/.test(text[end - 1] ?? '') ? text.slice(0, end).trimEnd() : text;
}

export const isRule = (words: string): boolean => /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(words);

/** The level of a heading whose mark is the line below it. */
export function underline(words: string): 1 | 2 | undefined {
  if (!/^(?:=+|-+)[ \t]*$/.test(words)) return undefined;
  return words.startsWith('=') ? 1 : 2;
}

interface ItemStart {
  /** The character that items of one list have in common. */
  readonly mark: string;
  readonly number: number | undefined;
  /** Of the marker. */
  readonly length: number;
}

export function itemStart(words: string): ItemStart | undefined {
  const [bullet] = /^[-+*](?=[ \t]|$)/.exec(words) ?? [];
  if (bullet !== undefined) return { mark: bullet, number: undefined, length: 1 };
  const [marker, number, mark] = /^(\d{1,9})([.)])(?=[ \t]|$)/.exec(words) ?? [];
  return marker === undefined || mark === undefined
    ? undefined
    : { mark, number: Number(number), length: marker.length };
}

/** A comment of HTML that has its lines for itself. */
export function commentStart(words: string): { readonly isClosed: boolean } | undefined {
  if (!words.startsWith('<!--')) return undefined;
  const isClosed = words.includes('-->');
  return isClosed && !words.trimEnd().endsWith('-->') ? undefined : { isClosed };
}

interface DetailsStart {
  readonly summary: string | undefined;
  readonly isUnfolded: boolean;
}

export function detailsStart(words: string): DetailsStart | undefined {
  const [whole, open, summary] =
    /^<details( open(?:="")?)?>(?:[ \t]*<summary>(.*)<\/summary>)?$/i.exec(words.trimEnd()) ?? [];
  return whole === undefined ? undefined : { summary, isUnfolded: open !== undefined };
}

export const summaryOf = (words: string): string | undefined =>
  /^<summary>(.*)<\/summary>[ \t]*$/i.exec(words)?.[1]?.trim();

export const isDetailsEnd = (words: string): boolean => /^<\/details>[ \t]*$/i.test(words);
