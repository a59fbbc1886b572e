import { isoTime } from '../../store/tokens/iso-time.ts';
import { UsageError } from '../flags.ts';

const MINUTE = 60_000;
const unitMs: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE };

const SPAN = /^(\d{1,6})([mhd])$/;

/** Parses `--expires`: a duration such as `30d`, or a date. Returns an ISO date. */
export function expiryOf(text: string): string {
  const at = afterSpan(text) ?? isoTime(text);
  if (at === undefined) {
    throw new UsageError(`--expires takes 30d, 12h, 45m or a date such as 2030-01-31, not ${JSON.stringify(text)}`);
  }
  if (at <= Date.now()) throw new UsageError(`--expires: ${text} is over already`);
  return new Date(at).toISOString();
}

function afterSpan(text: string): number | undefined {
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  const length = unitMs[unit];
  return length && Date.now() + Number(count) * length;
}
