import { expect, it } from 'vitest';
import { parsePattern } from './pattern.ts';

const finds = (condition: string, text: string) => new RegExp(parsePattern(condition).regex).test(text);

it.each([
  ['console\\.log', 'a console.log here', true],
  ['console\\.log', 'consoleXlog', false],
  ['/NEVER/i', 'a never', true],
  ['/^b$/m', 'a\nb\nc', true],
  ['/a.b/gs', 'a\nb', true],
  ['(?i)never', 'NEVER', true],
  ['(?ms)^b.c', 'a\nb\nc', true],
  ['/etc/passwd', 'cat /etc/passwd', true],
  ['/etc/passwd', 'etc', false],
])('%s in %j: %s', (condition, text, expected) => {
  expect(finds(condition, text)).toBe(expected);
});

it.each(['(', '[a', '/(/i', '(?i)*', 'x'.repeat(1001)])('%.20s is rejected with a reason', (condition) => {
  expect(() => parsePattern(condition)).toThrow(/no regular expression|longer than 1000/);
});

it.each([
  ['console\\.log\\(', true],
  [': any\\b', true],
  ['foo.*bar', true],
  ['[*+?]{2,}', true],
  ['(?:a|b)c+', true],
  ['(a+)+$', false],
  ['(a|a)*b', false],
  ['.*.*=', false],
  ['(a*)\\1b', false],
  ['a?b?c?', false],
])('%s is safe: %s', (condition, expected) => {
  expect(parsePattern(condition).isSafe).toBe(expected);
});
