import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addedLines } from './diff-lines.ts';
import { type DiffPart, markChangedWords, wordDiff } from './word-diff.ts';

const textOf = (lines: readonly (readonly DiffPart[])[] = []) =>
  lines.map((parts) => parts.map(({ text }) => text).join('')).join('\n');

const marked = (lines: readonly (readonly DiffPart[])[] = []) =>
  lines.map((parts) => parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')).join('\n');

describe('a word diff', () => {
  it('marks added and removed words', () => {
    const { before, after } = wordDiff('const total = sum(a, b);', 'const total = sum(a, c) + 1;') ?? {};

    expect(marked(before)).toBe('const total = sum(a, [b]);');
    expect(marked(after)).toBe('const total = sum(a, [c])[ + 1];');
  });

  it('prefers long common words to many common signs', () => {
    const { before, after } =
      wordDiff('return sum - coupon.value - coupon.value;', 'return Math.max(0, sum - coupon.value);') ?? {};

    expect(marked(before)).toBe('return sum[ - coupon.value] - coupon.value;');
    expect(marked(after)).toBe('return [Math.max(0, ]sum - coupon.value[)];');
  });

  it('spans several lines', () => {
    const { after } = wordDiff('first();\nthird(x);', 'first();\nsecond();\nthird(y);') ?? {};

    expect(marked(after)).toBe('first();\n[second();]\nthird([y]);');
  });

  it('is undefined for texts that differ too much or are too long', () => {
    const long = Array.from({ length: 2000 }, (_, index) => `word${index}`);

    expect(wordDiff('let a = 1;', 'Nothing like it at all')).toBeUndefined();
    expect(wordDiff(long.join(' '), long.toReversed().join(' '))).toBeUndefined();
  });

  it('reproduces both texts, and unmarked parts are equal in both', () => {
    const text = fc
      .array(fc.constantFrom('a', 'bb', ' ', '\n', '(', '\u{1f600}', '\ud800', '\t', '_x'))
      .map((parts) => parts.join(''));
    const unmarked = (lines: readonly (readonly DiffPart[])[] = []) =>
      lines
        .flat()
        .flatMap(({ text: part, isChanged }) => (isChanged ? [] : [part.replaceAll(/\s/g, '')]))
        .join('');
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = wordDiff(before, after);
        fc.pre(diff !== undefined);

        expect(textOf(diff?.before)).toBe(before);
        expect(textOf(diff?.after)).toBe(after);
        expect(unmarked(diff?.before)).toBe(unmarked(diff?.after));
      }),
    );
  });
});

it('a diff can have any number of lines', () => {
  const lines = addedLines('a\n'.repeat(300_000));

  expect(markChangedWords(lines)).toHaveLength(300_000);
});
