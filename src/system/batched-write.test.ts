import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { batchedWrite } from './batched-write.ts';

/** A stream that records the batches it receives. */
function recorder(): { readonly stream: Writable; readonly batches: string[][] } {
  const batches: string[][] = [];
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 10,
    write: (chunk, _encoding, done) => {
      batches.push([chunk]);
      done();
    },
    writev: (chunks, done) => {
      batches.push(chunks.map(({ chunk }) => chunk));
      done();
    },
  });
  return { stream, batches };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('batchedWrite', () => {
  it('sends the writes of one turn in one batch, in order', async () => {
    const { stream, batches } = recorder();
    const write = batchedWrite(stream);
    write('a');
    write('b');
    await nextTurn();
    write('c');
    await nextTurn();

    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('returns false when the stream is full, and the stream emits drain afterwards', async () => {
    const { stream } = recorder();
    const write = batchedWrite(stream);
    const drained = new Promise((resolve) => stream.once('drain', resolve));

    expect([write('123'), write('4567890')]).toEqual([true, false]);
    await drained;
    expect(write('1')).toBe(true);
  });

  it('keeps the order with other writers of the stream, and loses nothing at the end', async () => {
    const { stream, batches } = recorder();
    batchedWrite(stream)('mine');
    stream.write('theirs');
    stream.end();
    await new Promise((resolve) => stream.once('finish', resolve));

    expect(batches.flat()).toEqual(['mine', 'theirs']);
  });
});
