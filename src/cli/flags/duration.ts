const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const unitMs: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: 24 * HOUR };

/** Parses a duration such as `90s`, `45m`, `12h` or `30d` to milliseconds; undefined if the text is none. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const length = unitMs[unit];
  return length && Number(count) * length;
}
