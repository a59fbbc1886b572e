/** Kinds of limits: on the value, its ratio to the reference, or its excess over the reference. */
const limits = {
  value: { of: ({ value }) => value, show: (most, unit) => `≤ ${most} ${unit}` },
  ratio: { of: ({ value, reference }) => value / reference, show: (most) => `≤ ${most} × the reference` },
  over: { of: ({ value, reference }) => value - reference, show: (most, unit) => `≤ ${most} ${unit} over it` },
};

/** 'ok', 'over', or '' without a limit. */
export function verdict(row) {
  if (!row.limit) return '';
  const [[kind, most]] = Object.entries(row.limit);
  return limits[kind].of(row) <= most ? 'ok' : 'over';
}

/** The rows as a markdown table. */
export function table(rows) {
  const head = ['row', 'what', 'value', 'reference', 'ratio', 'target', 'verdict'];
  const cells = [head, ['---', '---', '---:', '---:', '---:', '---', '---'], ...rows.map(cellsOf)];
  return `${cells.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
}

function cellsOf(row) {
  const { name, what, unit, value, reference } = row;
  const shown = (number) => (number === undefined ? '' : `${digits(number)} ${unit}`.trim());
  const ratio = reference === undefined ? '' : digits(value / reference);
  return [name, what, shown(value), shown(reference), ratio, target(row), verdict(row)];
}

function target({ limit, unit }) {
  if (!limit) return '';
  const [[kind, most]] = Object.entries(limit);
  return limits[kind].show(most, unit).trim();
}

const digits = (number) => (Math.abs(number) >= 100 ? number.toFixed(0) : number.toFixed(number < 10 ? 2 : 1));
