import { expect, it } from 'vitest';
import { retryAfter } from './response.ts';

const now = Date.parse('2026-01-02T03:04:05Z');

it.each([
  [{}, undefined],
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': 'Fri, 02 Jan 2026 03:04:15 GMT' }, 10_000],
  [{ 'retry-after': 'Fri, 02 Jan 2026 03:04:00 GMT' }, 0],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after-ms': '', 'retry-after': '9' }, 9000],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
  [{ 'retry-after-ms': '-5', 'retry-after': '9' }, 9000],
])('the headers %j request a delay of %s milliseconds', (headers, wait) => {
  expect(retryAfter(headers, now)).toBe(wait);
});
