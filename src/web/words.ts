/** Numbers, times and counts as people read them. */
export const tokens = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${trimmed(count / 1000)}k` : `${trimmed(count / 1_000_000)}M`;
};

const trimmed = (value: number) => value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, '');

export const dollars = (amount: number): string => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;

export const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`;

/** A stretch of time. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}\u00a0ms`;
  if (milliseconds < 60_000) return `${trimmed(milliseconds / 1000)}\u00a0s`;
  const seconds = Math.floor(milliseconds / 1000);
  return [`${Math.floor(seconds / 60)}\u00a0min`, seconds % 60 > 0 && `${seconds % 60}\u00a0s`]
    .filter(Boolean)
    .join(' ');
}

export const lineCount = (text: string): string => counted(linesIn(text.replace(/\n$/, '')), 'line');

export const linesIn = (text: string): number => text.split('\n').length;

/** The day and the time; empty when it is neither. */
export function dateAndTime(value: string | number): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** One line of a text, cut to a length. */
export function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, length * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
