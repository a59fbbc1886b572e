import type { Align } from './block.ts';

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
