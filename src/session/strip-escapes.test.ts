import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EscapeStripper, lastLineStates, stripEscapes } from './strip-escapes.ts';

it.each([
  ['colours', '\u001B[1;31mred\u001B[0m', 'red'],
  ['colours with colons', '\u001B[38:2::1:2:3mred', 'red'],
  ['cursor movements', 'a\u001B[2K\u001B[1Gb\u001B[?25l', 'ab'],
  ['a title, ended either way', '\u001B]0;title\u0007a\u001B]0;title\u001B\\b', 'ab'],
  ['links', '\u001B]8;;https://example.com\u0007here\u001B]8;;\u0007', 'here'],
  ['character sets', '\u001B(Bplain\u001B)0', 'plain'],
  ['short sequences', '\u001B7a\u001B8\u001B=\u001Bcb\u001BM', 'ab'],
  ['the single introducer', '\u009B1mbold', 'bold'],
  ['device strings', '\u001BP1;2|text\u001B\\a', 'a'],
  ['carriage returns', '10%\r20%\r\n', '10%20%\n'],
  ['other control characters', 'a\0b\u0007c\bd\u007Fe\u0085f\tg\n', 'abcdef\tg\n'],
  ['interlinear marks', 'a\uFFF9b\uFFFAc\uFFFBd', 'abcd'],
  ['what never ends', '\u001B]0;no end', ']0;no end'],
  ['what ends too late', `\u001B[${'1'.repeat(5000)}m`, `[${'1'.repeat(5000)}m`],
])('%s', (_title, printed, text) => {
  expect(stripEscapes(printed)).toBe(text);
});

it('other characters are kept', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!/(?![\t\n])\p{Cc}|[\uFFF9-\uFFFB]/u.test(text));
      expect(stripEscapes(text)).toBe(text);
    }),
  );
});

it('the result does not depend on where the text is cut', () => {
  const unit = fc.constantFrom(
    '\u001B',
    '\u009B',
    '\u0007',
    '\\',
    '[',
    ']',
    '(',
    'P',
    '0',
    ';',
    '?',
    ' ',
    'm',
    'é',
    '\n',
    '\r',
  );
  fc.assert(
    fc.property(fc.array(fc.string({ unit, maxLength: 5 }), { maxLength: 20 }), (pieces) => {
      const text = new EscapeStripper();
      const stripped = pieces.map((piece) => text.push(piece)).join('') + text.end();
      expect(stripped).toBe(stripEscapes(pieces.join('')));
    }),
    { numRuns: 20_000 },
  );
});

it('at most the longest sequence is held back', () => {
  const text = new EscapeStripper();
  let stripped = text.push('\u001B]');
  for (let count = 0; count < 100; count++) stripped += text.push('x'.repeat(100));

  expect(stripped.length).toBeGreaterThan(5000);
});

it('a stripper starts anew after end()', () => {
  const text = new EscapeStripper();
  text.push('a\u001B[3');

  expect([text.end(), text.push('1mb'), text.end()]).toEqual(['[3', '1mb', '']);
});

it('a line that carriage returns overwrite keeps its last state', () => {
  expect(lastLineStates('10%\r99%\rdone\nnext\r\n\r\rlast\r')).toBe('done\nnext\nlast');
  expect(lastLineStates('\r')).toBe('');
});
