import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalChunks, repeatedChunks, wordChunks } from './player.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('😀', 'é', ' ', 'a', '\n') }),
);
const halfPair = /[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/;
const anyUnits = fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units));

test('equal chunks of any text in any number join to the text', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits), fc.integer({ min: 1, max: 50 }), (text, count) => {
      expect(equalChunks(text, count).join('')).toBe(text);
    }),
  );
});

test('equal chunks have the requested number, up to the number of characters, and differ by one at most', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, count) => {
      const sizes = equalChunks(text, count).map((piece) => Array.from(piece).length);

      expect(sizes).toHaveLength(Math.max(1, Math.min(count, Array.from(text).length)));
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('no cut goes through a character', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, count) => {
      for (const piece of [...equalChunks(text, count), ...wordChunks(text)]) expect(piece).not.toMatch(halfPair);
    }),
  );
});

test('the word chunks of any text join to the text', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits), (text) => {
      expect(wordChunks(text).join('')).toBe(text);
    }),
  );
});

test.each([
  ['Hello, wide world!', ['Hello, ', 'wide ', 'world!']],
  ['  indented\n\nlines ', ['  indented\n\n', 'lines ']],
  [' \n', [' \n']],
  ['', ['']],
])('the word chunks of %j', (text, expected) => {
  expect(wordChunks(text)).toEqual(expected);
});

test('a text is repeated as often as requested', () => {
  expect([...repeatedChunks('ab', 3)]).toEqual(['ab', 'ab', 'ab']);
});
