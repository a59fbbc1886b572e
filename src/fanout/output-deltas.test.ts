import { expect, it } from 'vitest';
import type { ToolExecutionUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { defaultDialect } from '../wire/dialect.ts';
import { toLine } from '../wire/json-lines.ts';
import { SlowReader } from '../wire/testing/slow-reader.ts';
import { lineQueue, MAX_BACKLOG } from './line-queue.ts';

/** A queue in delta form whose reader is behind. */
function setUpBehind() {
  const reader = new SlowReader();
  const queue = lineQueue(reader, { ...defaultDialect, toolOutput: 'delta' });
  reader.capacity = 1;
  queue.send(toLine({ type: 'first' }));
  reader.lines.length = 0;
  return { reader, queue };
}

const update = (outputDelta: string, offset: number): ToolExecutionUpdateEvent => ({
  type: 'tool_execution_update',
  toolCallId: 'a',
  toolName: 'bash',
  args: {},
  partialResult: { content: [] },
  outputDelta,
  offset,
});

it('[T32] deltas of a tool are joined while the reader is behind', () => {
  const { reader, queue } = setUpBehind();
  for (const [index, line] of ['one\n', 'two\n', 'six\n'].entries()) queue.publish({ event: update(line, 4 * index) });
  reader.drain();

  const { args: _args, partialResult: _result, ...joined } = update('one\ntwo\nsix\n', 0);
  expect(reader.records).toEqual([joined]);
});

it('[T32] a reader that stopped gets the end of what it missed, at its offset', () => {
  const { reader, queue } = setUpBehind();
  const part = 'x'.repeat(100_000);
  for (let index = 0; index < 50; index++) queue.publish({ event: update(part, index * part.length) });
  const { unread } = queue;
  reader.drain();

  const [{ outputDelta = '', offset = 0 } = {}] = reader.records as { outputDelta?: string; offset?: number }[];
  expect(unread).toBeLessThan(2 * MAX_BACKLOG);
  expect(offset).toBeGreaterThan(0);
  expect(offset + outputDelta.length).toBe(50 * part.length);
});
