import fc from 'fast-check';
import { expect, it } from 'vitest';
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
