import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { converseFrames, exceptionFrame } from '../../../../test/support/providers/bedrock.ts';
import { frameReader } from './event-frames.ts';

const frames = [...converseFrames({ thinking: 'Hm – 🙂', text: 'Ja.' }), exceptionFrame('throttlingException', 'Slow')];
const bytes = Buffer.concat(frames);
const whole = frameReader()(bytes);

it('frames have their text headers and payload', () => {
  expect(whole).toHaveLength(frames.length);
  expect(whole[0]).toEqual({
    headers: { ':message-type': 'event', ':event-type': 'messageStart', ':content-type': 'application/json' },
    payload: '{"role":"assistant"}',
  });
  expect(whole.at(-1)).toEqual({
    headers: { ':message-type': 'exception', ':exception-type': 'throttlingException' },
    payload: '{"message":"Slow"}',
  });
});

it('frames do not depend on how the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 30 }), (cuts) => {
      const read = frameReader();
      const ends = [...cuts.sort((one, other) => one - other), bytes.length];
      const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));

      expect(pieces.flatMap((piece) => read(Buffer.from(piece)))).toEqual(whole);
    }),
  );
});

it('a large frame in many pieces is assembled without copying its bytes for each piece', () => {
  const large = Buffer.concat(converseFrames({ text: 'x'.repeat(2 * 1024 * 1024) }));
  const expected = frameReader()(large);
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => concat.mockRestore());
  const read = frameReader();

  const found = [];
  for (let at = 0; at < large.length; at += 1024) found.push(...read(large.subarray(at, at + 1024)));

  expect(found).toEqual(expected);
  const copied = concat.mock.results.reduce((sum, { value }) => sum + value.length, 0);
  expect(copied).toBeLessThan(3 * large.length);
});

it('any changed byte is noticed', () => {
  const [frame = Buffer.alloc(0)] = frames;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: frame.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const damaged = Buffer.from(frame);
      damaged[at] = (damaged[at] ?? 0) ^ mask;

      expect(() => frameReader()(damaged)).toThrow('a checksum of it is wrong');
    }),
  );
});
