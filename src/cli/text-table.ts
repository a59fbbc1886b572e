import { withoutControls } from './chat/printer.ts';

/** Formats rows as an aligned table: numbers to the right, the last column unpadded. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(oneLine))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => {
      if (column === row.length - 1) return cell;
      const width = widths[column] ?? 0;
      return /^\d+$/.test(cell) && column > 0 ? cell.padStart(width) : cell.padEnd(width);
    });
  return all.map((row) => `${line(row).join('  ').trimEnd()}\n`).join('');
}

const oneLine = (cell: string) => withoutControls(cell.replaceAll(/\s+/g, ' '));
