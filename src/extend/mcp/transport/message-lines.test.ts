import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MessageLines } from './message-lines.ts';

it('lines are complete wherever their bytes are cut', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const reader = new MessageLines(1024 * 1024);
      const found: (string | undefined)[] = [];
      for (let start = 0; start < bytes.length; ) {
        const length = cuts.next().value;
        found.push(...(reader.push(bytes.subarray(start, start + length)) ?? [undefined]));
        start += length;
      }
      expect(found).toEqual(lines);
    }),
  );
});

it('a line longer than the limit is an error, finished or not', () => {
  expect(new MessageLines(3).push(Buffer.from('abc\nab'))).toEqual(['abc']);
  expect(new MessageLines(3).push(Buffer.from('abcd\n'))).toBeUndefined();
  expect(new MessageLines(3).push(Buffer.from('ab\nabcd'))).toBeUndefined();
});
