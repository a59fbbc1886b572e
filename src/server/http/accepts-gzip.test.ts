import { expect, it } from 'vitest';
import { acceptsGzip } from './accepts-gzip.ts';

it.each([
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br, deflate', false],
  ['gzip', true],
  ['GZIP', true],
  ['gzip, deflate, br, zstd', true],
  ['deflate;q=0.5,gzip;q=0.1', true],
  ['gzip;q=0', false],
  ['gzip; q=0.0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['gzip;q=nonsense', false],
  ['gzipped', false],
])('[W96] Accept-Encoding %o accepts gzip: %o', (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});
