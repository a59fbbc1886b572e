const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes for people. */
export function sizeText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  const amount = bytes / 1024 ** power;
  return `${amount < 100 ? Number(amount.toPrecision(3)) : Math.round(amount)} ${UNITS[power]}`;
}
