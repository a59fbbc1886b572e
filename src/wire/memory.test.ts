import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { InputLine } from './json-lines.ts';
import type { Link } from './link.ts';
import { memoryPair } from './memory.ts';

/** Settles after all scheduled work. */
const quiet = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Collects the texts that arrive at this end. */
function textsAt(link: Link): string[] {
  const texts: string[] = [];
  link.onLine((line: InputLine) => texts.push('text' in line ? line.text : `${line.tooLong} bytes`));
  return texts;
}

it('[F4 F6 F18] a memory link carries lines both ways, whole and in order, however they are written', async () => {
  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', '€', '𝄞', '\u2028', '"'), minLength: 1 }));
  const cuts = fc.array(fc.nat());

  await fc.assert(
    fc.asyncProperty(lines, cuts, async (sent, positions) => {
      const [left, right] = memoryPair();
      const received = [textsAt(left), textsAt(right)];
      const units = [...sent.map((text) => `${text}\n`).join('')];
      const edges = [0, ...positions.map((at) => at % (units.length + 1)).sort((a, b) => a - b), units.length];

      for (const [index, edge] of edges.slice(1).entries()) {
        const piece = units.slice(edges[index], edge).join('');
        left.write(piece);
        right.write(piece);
      }
      await quiet();

      expect(received).toEqual([sent, sent]);
    }),
  );
});

it('a memory link delivers asynchronously, never within the write', async () => {
  const [left, right] = memoryPair();
  const texts = textsAt(right);

  left.write('a\n');
  const early = [...texts];
  await quiet();

  expect(early).toEqual([]);
  expect(texts).toEqual(['a']);
});

it('a memory link keeps lines that are written before the first listener', async () => {
  const [left, right] = memoryPair();
  left.write('a\n');
  left.write('b\n');

  const texts = textsAt(right);
  await quiet();

  expect(texts).toEqual(['a', 'b']);
});

it('a memory link makes the writer wait for a paused reader, and reports when it drains', async () => {
  const [left, right] = memoryPair();
  const texts = textsAt(right);
  let drained = 0;
  left.onDrain(() => drained++);
  right.pause();

  const small = left.write('a\n');
  const large = left.write(`${'b'.repeat(64 * 1024)}\n`);
  await quiet();
  const early = { texts: [...texts], drained };
  right.resume();
  await quiet();

  expect([small, large]).toEqual([true, false]);
  expect(early).toEqual({ texts: [], drained: 0 });
  expect({ texts: texts.map((text) => text.length), drained }).toEqual({ texts: [1, 64 * 1024], drained: 1 });
});

it('a memory link stops between two writes when a listener pauses', async () => {
  const [left, right] = memoryPair();
  const texts: string[] = [];
  right.onLine((line) => {
    texts.push('text' in line ? line.text : '');
    right.pause();
  });

  left.write('a\n');
  left.write('b\n');
  await quiet();
  const early = [...texts];
  right.resume();
  await quiet();

  expect(early).toEqual(['a']);
  expect(texts).toEqual(['a', 'b']);
});

it('a memory link closes both ends once, after the lines written before', async () => {
  const [left, right] = memoryPair();
  const events: string[] = [];
  left.onClose(() => events.push('left closed'));
  right.onLine((line) => events.push('text' in line ? line.text : ''));
  right.onEnd(() => events.push('right ended'));
  right.onClose(() => events.push('right closed'));

  left.write('last\n');
  left.close();
  left.close();
  await quiet();
  right.close();
  await quiet();

  expect(events).toEqual(['left closed', 'last', 'right ended', 'right closed']);
});

it('[F12] a memory link delivers a last line without its LF when the other end closes', async () => {
  const [left, right] = memoryPair();
  const texts = textsAt(right);

  left.write('a\nhalf');
  left.close();
  await quiet();

  expect(texts).toEqual(['a', 'half']);
});

it('a memory link accepts nothing after it has closed', async () => {
  const [left, right] = memoryPair();
  const texts = textsAt(right);
  right.close();

  const taken = left.write('a\n');
  await quiet();

  expect(taken).toBe(false);
  expect(texts).toEqual([]);
});
