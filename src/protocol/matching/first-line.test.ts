import { expect, it } from 'vitest';
import { firstLine } from './first-line.ts';

it.each([
  ['  one\ntwo', 'one'],
  ['one\n<file name="a">\ntext\n</file>', 'one'],
  ['<file name="a">\ntext\n</file>\n<file name="b">\n</file>\n\none\ntwo', 'one'],
  ['<file name="a">\ntext\n</file>', ''],
  ['<file name="a">\ntext', '<file name="a">'],
  ['<image name="a.png"/>\n\none', 'one'],
  ['<file name="a">\ntext\n</file>\n\n<image name="a b.png"/>\n\none\ntwo', 'one'],
  ['<image name="a.png"/>', ''],
  ['one\rtwo\nthree', 'one\rtwo'],
  ['one\r\ntwo', 'one'],
  ['', ''],
])('the first line of %j is %j', (prompt, line) => {
  expect(firstLine(prompt)).toBe(line);
});

it('a prompt of a million characters takes linear time', () => {
  for (const piece of ['<file name=', '<image name="', '<image name=""/>', '<file name=</file>', ' ', '\n', 'x'])
    expect(firstLine(piece.repeat(1_000_000 / piece.length)).length).toBeLessThanOrEqual(1_000_000);
});
