import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeChange } from '../../../agent/tools/edit/edit-diff.ts';
import { addedLines, type DiffLine, diffOf, sizeOfDiff } from './diff-lines.ts';

const short = (lines: readonly DiffLine[]) => lines.map(({ kind, number, text }) => `${kind} ${number ?? '?'} ${text}`);

describe('diff lines', () => {
  it('are parsed from the diff of the edit tool', () => {
    const lines = diffOf({}, { diff: '    ...\n  9 same\n-10 old  text\n+10 new\n+11 \n    ...' });

    expect(short(lines)).toEqual([
      'gap ? ',
      'same 9 same',
      'removed 10 old  text',
      'added 10 new',
      'added 11 ',
      'gap ? ',
    ]);
    expect(sizeOfDiff(lines)).toBe('+2 −1');
  });

  it('have new line numbers where unchanged text follows a change', () => {
    const diff = ' 3 a\n-4 b\n+4 B\n+5 B too\n 5 c\n   ...\n 8 d\n-9 e\n 10 f';

    expect(short(diffOf({}, { diff }))).toEqual([
      'same 3 a',
      'removed 4 b',
      'added 4 B',
      'added 5 B too',
      'same 6 c',
      'gap ? ',
      'same 9 d',
      'removed 9 e',
      'same 10 f',
    ]);
  });

  it('are parsed from a patch of several files', () => {
    const patch =
      '--- a\n+++ b\n@@ -3,2 +3,2 @@\n a\n--- b\n+++ c\ndiff --git x y\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file';

    expect(short(diffOf({}, { patch }))).toEqual([
      'gap ? ',
      'same 3 a',
      'removed 4 -- b',
      'added 4 ++ c',
      'gap ? ',
      'removed 1 x',
      'added 1 y',
    ]);
  });

  it('are computed from the arguments if the result has no diff', () => {
    const edits = [
      { oldText: 'a\nb\nc\n', newText: 'a\nB\nc\n' },
      { oldText: 'x', newText: '' },
    ];

    expect(short(diffOf({ edits }, undefined))).toEqual([
      'same ? a',
      'removed ? b',
      'added ? B',
      'same ? c',
      'gap ? ',
      'removed ? x',
    ]);
    expect(short(diffOf({ oldText: 'x', newText: 'y' }, 7))).toEqual(['removed ? x', 'added ? y']);
  });

  it('stay verbatim if they have no numbers or an unknown format', () => {
    expect(short(diffOf({}, { diff: '+a\n-b\n c\nd\n@@ here @@' }))).toEqual([
      'added ? a',
      'removed ? b',
      'same ? c',
      'same ? d',
      'gap ? @@ here @@',
    ]);
    expect(short(diffOf({}, { patch: 'nothing of the kind' }))).toEqual(['same ? nothing of the kind']);
  });

  it('are empty for a file written without changes', () => {
    expect(sizeOfDiff(diffOf({}, { diff: '   ...' }))).toBe('unchanged');
  });

  it('of a new file are all added', () => {
    expect(short(addedLines('a\n\nb\n'))).toEqual(['added 1 a', 'added 2 ', 'added 3 b']);
  });

  it('are equal for the diff and the patch of a change', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '', '-c', '+ 1 d', '...'))
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const { diff, patch } = describeChange('f', before, after);
        const changes = (details: object) => short(diffOf({}, details)).filter((line) => !line.startsWith('gap'));

        expect(changes({ diff })).toEqual(changes({ patch }));
      }),
    );
  });
});
