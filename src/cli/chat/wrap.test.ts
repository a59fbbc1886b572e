import { expect, it } from 'vitest';
import { wrap } from './wrap.ts';

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
  ['surrogate pairs are not split', '🐚'.repeat(11), { rows: `${'🐚'.repeat(10)}\n`, last: '🐚' }],
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

it('an unknown width breaks no line', () => {
  expect(wrap('word '.repeat(1000), Infinity)).toEqual({ rows: '', last: 'word '.repeat(1000) });
});
