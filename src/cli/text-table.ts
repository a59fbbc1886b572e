import { terminalText } from '../system/terminal-text.ts';
import { cellWidth } from './chat/wrap.ts';

/** Formats rows as an aligned table: numbers to the right, the last column unpadded. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(oneLine))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => cellWidth(row[column] ?? ''))));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => {
      if (column === row.length - 1) return cell;
      const padding = ' '.repeat((widths[column] ?? 0) - cellWidth(cell));
      return /^\d+$/.test(cell) && column > 0 ? padding + cell : cell + padding;
    });
  return all.map((row) => `${line(row).join('  ').trimEnd()}\n`).join('');
}

const oneLine = (cell: string) => terminalText(cell.replaceAll(/\s+/g, ' '));
