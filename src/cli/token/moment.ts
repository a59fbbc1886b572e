import { isoTime } from '../../store/tokens/iso-time.ts';
import { UsageError } from '../flags.ts';

const MINUTE_MS = 60_000;
const units: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS };

const SPAN = /^(\d{1,6})([mhd])$/;

/** When something ends, as an ISO date: after a time such as `30d`, or on a date. */
export function momentOf(text: string): string {
  const at = afterSpan(text) ?? isoTime(text);
  if (at === undefined) {
    throw new UsageError(`--expires takes 30d, 12h, 45m or a date such as 2030-01-31, not ${JSON.stringify(text)}`);
  }
  if (at <= Date.now()) throw new UsageError(`--expires: ${text} is over already`);
  return new Date(at).toISOString();
}

function afterSpan(text: string): number | undefined {
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  const length = units[unit];
  return length && Date.now() + Number(count) * length;
}
