// Larger comparisons are not made.
const MAX_COMPARISONS = 400_000;

// For each item of two lists, whether it belongs to their common subsequence.
export interface CommonItems {
  readonly before: readonly boolean[];
  readonly after: readonly boolean[];
}

/** Finds the common subsequence with the most characters; undefined if the comparison is too large. */
export function commonSubsequence(before: readonly string[], after: readonly string[]): CommonItems | undefined {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const [rows, columns] = [before.length - head - tail, after.length - head - tail];
  if (rows * columns > MAX_COMPARISONS) return undefined;
  const same = (row: number, column: number) => before[head + row] === after[head + column];
  const weight = (row: number) => (before[head + row]?.length ?? 0) + 1;
  const weightFrom = commonWeights({ rows, columns, same, weight });
  const marks = {
    before: before.map((_, index) => index < head || index >= head + rows),
    after: after.map((_, index) => index < head || index >= head + columns),
  };
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    const [skipRow, skipColumn] = [weightFrom(row + 1, column), weightFrom(row, column + 1)];
    if (same(row, column) && weightFrom(row, column) > Math.max(skipRow, skipColumn)) {
      marks.before[head + row++] = true;
      marks.after[head + column++] = true;
    } else if (skipRow >= skipColumn) row++;
    else column++;
  }
  return marks;
}

interface ComparisonGrid {
  readonly rows: number;
  readonly columns: number;
  readonly same: (row: number, column: number) => boolean;
  readonly weight: (row: number) => number;
}

/** The weight of the best common subsequence from a position in both lists on. */
function commonWeights({ rows, columns, same, weight }: ComparisonGrid): (row: number, column: number) => number {
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      lengths[row * width + column] = Math.max(
        same(row, column) ? at(row + 1, column + 1) + weight(row) : 0,
        at(row + 1, column),
        at(row, column + 1),
      );
    }
  }
  return at;
}
