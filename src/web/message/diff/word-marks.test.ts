import { expect, it } from 'vitest';
import { addedLines } from './diff-lines.ts';
import { markChangedWords } from './word-marks.ts';

it('a diff can have any number of lines', () => {
  const lines = addedLines('a\n'.repeat(300_000));

  expect(markChangedWords(lines)).toHaveLength(300_000);
});
