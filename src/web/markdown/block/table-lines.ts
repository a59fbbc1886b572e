import type { Align } from './block.ts';

const DELIMITERS = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

/** The cells of a line of a table. */
export function cellsOf(line: string): readonly string[] {
  const inside = line.trim().replace(/^\|/, '');
  const cells = inside.split(/(?<!\\)\|/);
  if (cells.length > 1 && cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** What the line below the head of a table says of its columns; undefined when it is no such line. */
export function alignsOf(line: string): readonly Align[] | undefined {
  if (!line.includes('|') || !DELIMITERS.test(line.trimEnd())) return undefined;
  return cellsOf(line).map((cell) => {
    const [isLeft, isRight] = [cell.startsWith(':'), cell.endsWith(':')];
    if (isLeft) return isRight ? 'center' : 'left';
    return isRight ? 'right' : undefined;
  });
}
