import type { IncomingHttpHeaders } from 'node:http';

/** The time before the next attempt that a server requests, in milliseconds. */
export function retryAfter(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (Number.isFinite(exact) && exact >= 0 && headers['retry-after-ms'] !== '') return exact;
  const { 'retry-after': value } = headers;
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.round(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
