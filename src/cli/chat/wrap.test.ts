import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cellWidth, wrap } from './wrap.ts';

const DIM = '\u001B[2m';
const RESET = '\u001B[0m';

it.each([
  ['text that fits is not wrapped', 'one two', { rows: '', last: 'one two' }],
  ['complete lines stay unchanged', 'a long line of words\nnext', { rows: 'a long line of words\n', last: 'next' }],
  ['the last row is empty after a line end', 'one\n', { rows: 'one\n', last: '' }],
  ['a row ends at a word', 'one two three', { rows: 'one two\n', last: 'three' }],
  ['a row may be full', 'one two 34 five', { rows: 'one two 34\n', last: 'five' }],
  ['a word that is too long is cut', 'abcdefghijklm no', { rows: 'abcdefghij\n', last: 'klm no' }],
  ['several rows are cut at once', 'one two three four five', { rows: 'one two\nthree four\n', last: 'five' }],
  ['emoji fill two cells', '🐚'.repeat(6), { rows: `${'🐚'.repeat(5)}\n`, last: '🐚' }],
  ['Chinese characters fill two cells', '深圳市南山区', { rows: '深圳市南山\n', last: '区' }],
  ['a wide character does not fill half of the last cell', 'a深圳市南山', { rows: 'a深圳市南\n', last: '山' }],
  ['halfwidth katakana fill one cell', 'ｱｲｳｴｵｶｷｸｹｺｻ', { rows: 'ｱｲｳｴｵｶｷｸｹｺ\n', last: 'ｻ' }],
  ['combining marks fill none', 'e\u0301'.repeat(11), { rows: `${'e\u0301'.repeat(10)}\n`, last: 'e\u0301' }],
  ['a joined emoji is not split', 'abcdefgh👩\u200D💻', { rows: 'abcdefgh\n', last: '👩\u200D💻' }],
  ['a tab fills the cells up to the next stop', 'a\tbcd', { rows: 'a\tbc\n', last: 'd' }],
])('%s', (_what, text, expected) => {
  expect(wrap(text, 10)).toEqual(expected);
});

it('colours have no width, and continue in the next row', () => {
  expect(wrap(`${DIM}one two three${RESET}`, 10)).toEqual({
    rows: `${DIM}one two${RESET}\n`,
    last: `${DIM}three${RESET}`,
  });
  expect(wrap(`${DIM}one${RESET} two three`, 10)).toEqual({ rows: `${DIM}one${RESET} two\n`, last: 'three' });
});

// Readline draws the rows again, with the measure of Node: both must agree where a row ends.
function nodeWidth(text: string): number {
  const output = Object.assign(new PassThrough(), { columns: 1_000_000 });
  const reader = createInterface({ input: new PassThrough(), output, terminal: true, prompt: text });
  const { cols } = reader.getCursorPos();
  reader.close();
  return cols;
}

const piece = fc.constantFrom(
  'a',
  ' ',
  '深',
  'か',
  'か\u3099',
  'カ',
  'ｶ',
  '한',
  'ｆ',
  '。',
  '🐚',
  '👩\u200D💻',
  'e\u0301',
  'ß',
  'ж',
  'ש',
  '𠮷',
);

it('[Z81] rows of any script are no wider than the terminal, and no character is lost', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 4, max: 20 }), (pieces, width) => {
      const text = pieces.join('');
      const { rows, last } = wrap(text, width);
      const all = [...rows.split('\n').slice(0, -1), last];
      for (const row of all) expect(nodeWidth(row)).toBeLessThanOrEqual(width);
      expect(all.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      for (const row of all.slice(1)) expect(row).not.toMatch(/^[\p{Mn}\u200D]/u);
    }),
  );
});

it('[Z81] a row is as full as the next word allows', () => {
  const { rows } = wrap('東京都 '.repeat(20), 20);

  for (const row of rows.trimEnd().split('\n')) expect(cellWidth(row)).toBe(20);
});

it('an unknown width breaks no line', () => {
  expect(wrap('word '.repeat(1000), Infinity)).toEqual({ rows: '', last: 'word '.repeat(1000) });
});
