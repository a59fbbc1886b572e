import { expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

it.each([
  ['2030-01-31', Date.UTC(2030, 0, 31)],
  ['2030-01-31T12:00Z', Date.UTC(2030, 0, 31, 12)],
  ['2030-01-31T12:00:30.5+02:00', Date.UTC(2030, 0, 31, 10, 0, 30, 500)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
])('%s is a date', (text, at) => {
  expect(isoTime(text)).toBe(at);
});

it.each([
  '',
  'soon',
  'laptop-3',
  '3',
  '2030',
  '2030-1-1',
  '2030-02-30',
  '2030-13-01',
  '2030-01-31T25:00Z',
  '31.01.2030',
])('%j is not a date', (text) => {
  expect(isoTime(text)).toBeUndefined();
});
