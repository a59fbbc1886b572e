import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeChange, MAX_DIFF_CHARACTERS } from './edit-diff.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`);

/** Number of equal lines before the first difference. */
function sameLinesAbove(before: string, after: string): number {
  const [old, now] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)];
  const first = old.findIndex((line, index) => line !== now[index]);
  return first === -1 ? old.length : first;
}

describe('a change', () => {
  it('is shown with its line numbers and four lines of context', () => {
    const before = numbered(30).join('');
    const after = before.replace('line 10\n', 'ten\nten and a half\n').replace('line 25\n', '');

    const { diff, patch, firstChangedLine } = describeChange('a/file', before, after);

    expect(diff.split('\n')).toEqual([
      '    ...',
      '  6 line 6',
      '  7 line 7',
      '  8 line 8',
      '  9 line 9',
      '-10 line 10',
      '+10 ten',
      '+11 ten and a half',
      ' 11 line 11',
      ' 12 line 12',
      ' 13 line 13',
      ' 14 line 14',
      '    ...',
      ' 21 line 21',
      ' 22 line 22',
      ' 23 line 23',
      ' 24 line 24',
      '-25 line 25',
      ' 26 line 26',
      ' 27 line 27',
      ' 28 line 28',
      ' 29 line 29',
      '    ...',
    ]);
    expect(patch).toMatch(/^--- a\/file\n\+\+\+ a\/file\n@@ -6,9 \+6,10 @@\n line 6\n/);
    expect(firstChangedLine).toBe(10);
  });

  it('of a short file is shown whole and without carriage returns', () => {
    expect(describeChange('f', 'a\r\nb', 'a\r\nc').diff).toBe(' 1 a\n-2 b\n+2 c');
  });

  it('of very many lines is one block', () => {
    const before = numbered(5000).join('');
    const after = before.replaceAll(/line (\d*)[05]\n/g, 'other $1\n');

    const { patch = '', firstChangedLine } = describeChange('f', before, after);

    expect(patch.match(/^@@/gm)).toHaveLength(1);
    expect(applyPatch(before, patch)).toBe(after);
    expect(firstChangedLine).toBe(5);
  });

  it('that is too long to send is truncated', () => {
    const before = `a\n${'x'.repeat(MAX_DIFF_CHARACTERS)}\nb`;

    const details = describeChange('f', before, before.replace('x', 'y'));

    expect(details).toEqual({ diff: ' 1 a\n   ...', firstChangedLine: 2 });
  });
});

describe('the patch of any change', () => {
  const anyText = fc
    .array(
      fc.record({
        text: fc.constantFrom('', 'a', 'b', '-c', '\\d', '@@ -1 +1 @@', '\u2028', 'x\ry'),
        crlf: fc.boolean(),
      }),
      {
        maxLength: 30,
      },
    )
    .chain((lines) =>
      fc.boolean().map((open) => {
        const text = lines.map((line) => `${line.text}${line.crlf ? '\r\n' : '\n'}`).join('');
        return open ? `${text}end` : text;
      }),
    );

  it('turns the old text into the new one and names the first changed line', () => {
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        fc.pre(before !== after);

        const { patch = '', firstChangedLine } = describeChange('some file', before, after);

        expect(applyPatch(before, patch, { autoConvertLineEndings: false })).toBe(after);
        expect(firstChangedLine).toBe(1 + sameLinesAbove(before, after));
      }),
    );
  });
});
