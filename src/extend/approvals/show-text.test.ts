import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAX_SHOWN_CHARACTERS, showCommand, showName } from './show-text.ts';

it.each([
  ['plain words, ümlauts and 漢字 👍', 'plain words, ümlauts and 漢字 👍'],
  ['a\tb\rc', 'a\\tb\\rc'],
  ['\u001b[2K\u0007', '\\u{1b}[2K\\u{7}'],
  ['a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
  ['a\u200bb\u00adc\ufeffd', 'a\\u{200b}b\\u{ad}c\\u{feff}d'],
  ['a\u00a0b\u3000c\u2028d\u2800', 'a\\u{a0}b\\u{3000}c\\u{2028}d\\u{2800}'],
  ['\u{e0041}\u3164\ufe0f', '\\u{e0041}\\u{3164}\\u{fe0f}'],
  ['\ud800a', '\\u{d800}a'],
])('%j is shown as %j', (text, shown) => {
  expect(showCommand(text)).toEqual({ text: shown, isCut: false });
  expect(showName(text)).toEqual({ text: shown, isCut: false });
});

it('a command keeps its lines, a name does not', () => {
  expect(showCommand('a\nb').text).toBe('a\nb');
  expect(showName('a\nb').text).toBe('a\\nb');
});

it('a long text is cut with its length', () => {
  const longest = 'a'.repeat(MAX_SHOWN_CHARACTERS);

  expect(showCommand(longest)).toEqual({ text: longest, isCut: false });
  expect(showCommand(`${longest}b`)).toEqual({ text: `${longest}… (8001 characters)`, isCut: true });
  expect(showCommand(`${'a'.repeat(MAX_SHOWN_CHARACTERS - 1)}👍`).text).toBe(`${longest.slice(1)}… (8001 characters)`);
});

it('no text keeps a sign that cannot be seen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
      expect(showName(text).text).not.toMatch(
        /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u,
      );
    }),
  );
});
