import { expect, it } from 'vitest';
import { LimitedLines } from './agent-process.ts';

function newLines() {
  const passed: string[] = [];
  const omitted: number[] = [];
  const lines = new LimitedLines({ onLine: (line) => passed.push(line), onOmitted: (count) => omitted.push(count) });
  return { lines, passed, omitted };
}

it('joins pieces of lines, leaves out empty ones and passes on an unfinished last one', () => {
  const { lines, passed } = newLines();

  for (const text of ['a', 'b\n\nc\r\nd', 'e']) lines.push(text);
  lines.end();

  expect(passed).toEqual(['ab', 'c', 'de']);
});

it('cuts long lines, also while they have no end', () => {
  const { lines, passed } = newLines();

  for (let piece = 0; piece < 100; piece++) lines.push('x'.repeat(1000));
  lines.push('\nnext\n');

  expect(passed).toEqual([`${'x'.repeat(1000)}…`, 'next']);
});

it('counts the lines beyond the limit of a window', () => {
  const { lines, passed, omitted } = newLines();

  lines.push('line\n'.repeat(60), 100_000);
  expect([passed.length, omitted]).toEqual([50, []]);
  lines.push('later\n', 111_000);
  lines.push('line\n'.repeat(52), 112_000);
  lines.end(112_000);

  expect(passed.filter((line) => line === 'later')).toHaveLength(1);
  expect(omitted).toEqual([10, 3]);
});
