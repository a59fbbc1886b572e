import { expect, it } from 'vitest';
import { addedLines } from './diff-lines.ts';
import { markedLines } from './marked-lines.ts';

it('a change may have as many lines as it likes', () => {
  const lines = addedLines('a\n'.repeat(300_000));

  expect(markedLines(lines)).toHaveLength(300_000);
});
