import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { batchedWrite } from './batched-write.ts';

/** A stream that remembers in which goes it was written to. */
function recorder(): { readonly stream: Writable; readonly goes: string[][] } {
  const goes: string[][] = [];
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 10,
    write: (chunk, _encoding, done) => {
      goes.push([chunk]);
      done();
    },
    writev: (chunks, done) => {
      goes.push(chunks.map(({ chunk }) => chunk));
      done();
    },
  });
  return { stream, goes };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('batchedWrite', () => {
  it('hands over in one go what was written in one turn, in order', async () => {
    const { stream, goes } = recorder();
    const write = batchedWrite(stream);
    write('a');
    write('b');
    await nextTurn();
    write('c');
    await nextTurn();

    expect(goes).toEqual([['a', 'b'], ['c']]);
  });

  it('says when the stream has enough, and the stream tells when it has room again', async () => {
    const { stream } = recorder();
    const write = batchedWrite(stream);
    const drained = new Promise((resolve) => stream.once('drain', resolve));

    expect([write('123'), write('4567890')]).toEqual([true, false]);
    await drained;
    expect(write('1')).toBe(true);
  });

  it('keeps the order with what others write, and loses nothing at the end', async () => {
    const { stream, goes } = recorder();
    batchedWrite(stream)('mine');
    stream.write('theirs');
    stream.end();
    await new Promise((resolve) => stream.once('finish', resolve));

    expect(goes.flat()).toEqual(['mine', 'theirs']);
  });
});
