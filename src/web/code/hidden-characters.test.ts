import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactParts, visibleParts, visibleText } from './hidden-characters.ts';

it.each([
  ['', ''],
  ['a\tb\r\nc', 'a\tb\r\nc'],
  ['a\u202eb', 'aU+202Eb'],
  ['a\u200b\u200b\u200bb\u200b', 'aU+200B ×3bU+200B'],
  ['\u200b\u202e\u202e', 'U+200BU+202E ×2'],
  ['\u{e0041}\u{e0041}', 'U+E0041 ×2'],
  ['\u200b'.repeat(40_000), 'U+200B ×40000'],
  ['👨\u200d👩', '👨\u200d👩'],
])('shows %j as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it.each([
  ['npm test\n\tnpm run lint', 'npm test\n\tnpm run lint'],
  ['a\u200db\u200c', 'aU+200DbU+200C'],
  ['a\rb\u00a0\u3000c', 'aU+000DbU+00A0U+3000c'],
  ['\u3164\u2800\ufe0f\u2028\ue000', 'U+3164U+2800U+FE0FU+2028U+E000'],
  ['größe 漢字 é', 'größe 漢字 é'],
])('shows %j in an approval as %j', (text, shown) => {
  expect(
    exactParts(text)
      .map((part) => part.text)
      .join(''),
  ).toBe(shown);
});

it('a text has few more than 2,000 parts, and no part contains a hidden character', () => {
  const hidden = ['\u200b', '\u202e', '\u2066', '\u0001', '\u{e0041}'];
  const runs = fc.array(fc.constantFrom('a', ' ', ...hidden), { minLength: 1 });
  fc.assert(
    fc.property(runs, fc.nat(5000), (units, times) => {
      const parts = visibleParts(units.join('').repeat(times));
      expect(parts.length).toBeLessThan(2010);
      expect(parts.filter(({ text }) => hidden.some((character) => text.includes(character)))).toEqual([]);
    }),
  );
});

it('hidden characters beyond the limit are only counted, and the text between them stays', () => {
  const shown = visibleText('a\u200b'.repeat(3000));
  expect(shown.replaceAll('aU+200B', '')).toBe(`2000 more${'a'.repeat(2000)}`);
});

it('a run of any length is shown', () => {
  expect(visibleParts('\u0001'.repeat(20_000_000))).toHaveLength(200);
});
