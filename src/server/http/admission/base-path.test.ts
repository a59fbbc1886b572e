import { expect, it } from 'vitest';
import { basePathFrom } from './base-path.ts';

it('[W40] a base path may be written with or without its slashes', () => {
  const written = ['', '/', 'tau', '/tau', '/tau/', 'team/tau/'];

  expect(written.map(basePathFrom)).toEqual(['', '', '/tau', '/tau', '/tau', '/team/tau']);
});

it.each(['/../tau', '/a b', '/tau?x', '/%2e', 'https://tau.example/', '/tau\r\nX: 1'])('%j is no base path', (text) => {
  expect(() => basePathFrom(text)).toThrow('--base-path takes a path like /tau, not ');
});
