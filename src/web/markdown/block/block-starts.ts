import type { Align } from './block.ts';

/** Recognises how blocks start in an unindented line, in linear time. A fence start has its marks and info string. */
export function fenceStart(content: string): { readonly fence: string; readonly info: string } | undefined {
  const [, fence, info = ''] = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(content) ?? [];
  return fence === undefined ? undefined : { fence, info: info.trim() };
}

export function headingStart(content: string): { readonly level: number; readonly text: string } | undefined {
  const [, marks] = /^(#{1,6})(?=[ \t]|$)/.exec(content) ?? [];
  return marks === undefined
    ? undefined
    : { level: marks.length, text: withoutClosingMarks(content.slice(marks.length)) };
}

function withoutClosingMarks(content: string): string {
  const text = content.trim();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || /\s/.test(text[end - 1] ?? '') ? text.slice(0, end).trimEnd() : text;
}

export const isRule = (content: string): boolean => /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(content);

/** The level of a heading that is underlined by this line. */
export function underlineLevel(content: string): 1 | 2 | undefined {
  if (!/^(?:=+|-+)[ \t]*$/.test(content)) return undefined;
  return content.startsWith('=') ? 1 : 2;
}

interface ItemStart {
  /** The character that all items of one list share. */
  readonly mark: string;
  readonly number: number | undefined;
  readonly length: number;
}

export function itemStart(content: string): ItemStart | undefined {
  const [bullet] = /^[-+*](?=[ \t]|$)/.exec(content) ?? [];
  if (bullet !== undefined) return { mark: bullet, number: undefined, length: 1 };
  const [marker, number, mark] = /^(\d{1,9})([.)])(?=[ \t]|$)/.exec(content) ?? [];
  return marker === undefined || mark === undefined
    ? undefined
    : { mark, number: Number(number), length: marker.length };
}

/** An HTML comment on lines of its own. */
export function commentStart(content: string): { readonly isClosed: boolean } | undefined {
  if (!content.startsWith('<!--')) return undefined;
  const isClosed = content.includes('-->');
  return isClosed && !content.trimEnd().endsWith('-->') ? undefined : { isClosed };
}

interface DetailsStart {
  readonly summary: string | undefined;
  readonly isUnfolded: boolean;
}

export function detailsStart(content: string): DetailsStart | undefined {
  const [whole, open, summary] =
    /^<details( open(?:="")?)?>(?:[ \t]*<summary>(.*)<\/summary>)?$/i.exec(content.trimEnd()) ?? [];
  return whole === undefined ? undefined : { summary, isUnfolded: open !== undefined };
}

export const summaryOf = (content: string): string | undefined =>
  /^<summary>(.*)<\/summary>[ \t]*$/i.exec(content)?.[1]?.trim();

export const isDetailsEnd = (content: string): boolean => /^<\/details>[ \t]*$/i.test(content);

const DELIMITERS = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

export function tableCells(line: string): readonly string[] {
  const inside = line.trim().replace(/^\|/, '');
  const cells = inside.split(/(?<!\\)\|/);
  if (cells.length > 1 && cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** The column alignments of a delimiter row; undefined for any other line. */
export function columnAligns(line: string): readonly Align[] | undefined {
  if (!line.includes('|') || !DELIMITERS.test(line.trimEnd())) return undefined;
  return tableCells(line).map((cell) => {
    const [isLeft, isRight] = [cell.startsWith(':'), cell.endsWith(':')];
    if (isLeft) return isRight ? 'center' : 'left';
    return isRight ? 'right' : undefined;
  });
}
