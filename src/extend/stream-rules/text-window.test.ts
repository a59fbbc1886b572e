import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextWindow, WINDOW_CHARACTERS } from './text-window.ts';

/** True if a global expression matches a text that arrives in these pieces. */
function isFound(regex: RegExp, pieces: readonly string[]): boolean {
  const window = new TextWindow();
  return pieces.some((piece) =>
    [...window.add(piece)].some(({ text, from }) => {
      regex.lastIndex = from;
      return regex.test(text);
    }),
  );
}

const longAgo = 'x'.repeat(3 * WINDOW_CHARACTERS);

it.each([
  ['a word in pieces', /needle/g, ['nee', 'd', 'le'], true],
  ['a word behind a long text', /needle/g, [`${longAgo}nee`, 'dle'], true],
  ['a word at the very end of a long piece', /needle$/g, [`${longAgo}needle`], true],
  ['the beginning, at the beginning', /^needle/g, ['needle'], true],
  ['the beginning, where only the window begins', /^x/g, [`y${longAgo}`, 'x'], false],
  ['a word that only the window cuts out', /\bxx/g, [`y${longAgo}`, 'x'], false],
  ['the beginning of a line', /^needle/gm, [`${longAgo}\n`, 'needle'], true],
])('%s', (_, regex, pieces, expected) => {
  expect(isFound(regex, pieces)).toBe(expected);
});

it('no view exceeds two windows, and every short match is found', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 * WINDOW_CHARACTERS }), { maxLength: 5 }),
      fc.integer({ min: 1, max: WINDOW_CHARACTERS - 2 }),
      (lengths, middle) => {
        const window = new TextWindow();
        for (const length of lengths) {
          for (const { text } of window.add('x'.repeat(length))) {
            expect(text.length).toBeLessThanOrEqual(2 * WINDOW_CHARACTERS + 1);
          }
        }
        const needle = `<${'-'.repeat(middle)}>`;
        expect(isFound(/<-+>/g, [...lengths.map((length) => 'x'.repeat(length)), ...needle])).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});
