/** Formats numbers, times and counts for people. */
export const formatTokens = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${shortNumber(count / 1000)}k` : `${shortNumber(count / 1_000_000)}M`;
};

const shortNumber = (value: number) => value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, '');

export const formatDollars = (amount: number): string => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;

export const formatCount = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`;

export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}\u00a0ms`;
  if (milliseconds < 60_000) return `${shortNumber(milliseconds / 1000)}\u00a0s`;
  const seconds = Math.floor(milliseconds / 1000);
  return [`${Math.floor(seconds / 60)}\u00a0min`, seconds % 60 > 0 && `${seconds % 60}\u00a0s`]
    .filter(Boolean)
    .join(' ');
}

export const formatLineCount = (text: string): string => formatCount(countLines(text.replace(/\n$/, '')), 'line');

export const countLines = (text: string): number => text.split('\n').length;

/** Day and time; empty for an invalid date. */
export function formatDateTime(value: string | number): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** The text as one line, cut to a length. */
export function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, length * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
