import { readFileSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keepTail, MAX_OUTPUT_BYTES } from '../truncate.ts';
import { CommandOutput } from './command-output.ts';

/** An output whose log is removed after the test. */
function newOutput(...args: ConstructorParameters<typeof CommandOutput>): CommandOutput {
  const output = new CommandOutput(...args);
  onTestFinished(() => removeLog(output));
  return output;
}

function removeLog({ log }: CommandOutput): void {
  log?.close();
  if (log?.path) rmSync(log.path);
}

const logged = ({ log }: CommandOutput) => (log?.path ? readFileSync(log.path, 'utf8') : undefined);

/** The tail expected for everything that was printed. */
function expected(printed: string) {
  const breaks = printed.split('\n').length - 1;
  const lines = printed === '' || printed.endsWith('\n') ? breaks : breaks + 1;
  return keepTail(printed, { lines, bytes: Buffer.byteLength(printed) });
}

const anyPiece = fc.record({
  unit: fc.constantFrom('x', 'ü', '界', '\n', 'word\n', '\n\n'),
  times: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 60_000 })),
});

describe('the tail', () => {
  it('equals the tail of the whole output, and the log holds the whole output, in any chunks', () => {
    fc.assert(
      fc.property(fc.array(anyPiece, { maxLength: 8 }), (pieces) => {
        const output = new CommandOutput();
        let printed = '';
        for (const { unit, times } of pieces) {
          const piece = unit.repeat(times);
          output.add(Buffer.from(piece));
          printed += piece;

          const { content, ...tail } = output.tail();

          const { content: expectedContent, ...rest } = expected(printed);
          expect(tail).toEqual(rest);
          expect(content === expectedContent).toBe(true);
        }
        expect(logged(output) === (expected(printed).truncated ? printed : undefined)).toBe(true);
        removeLog(output);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['and ends', '\n'],
    ['and does not end', ''],
    ['and follows another', '\n', 'first\n'],
  ])('of a line longer than the window %s is the end of that line', (_how, end, before = '') => {
    const output = newOutput();
    output.add(Buffer.from(`${before}${'x'.repeat(5 * MAX_OUTPUT_BYTES)}${end}`));

    const tail = output.tail();

    expect(tail).toMatchObject({
      truncated: true,
      truncatedBy: 'bytes',
      lastLinePartial: true,
      outputBytes: MAX_OUTPUT_BYTES,
    });
    expect(/^x+$/.test(tail.content)).toBe(true);
    expect(output.lastLineBytes).toBe(5 * MAX_OUTPUT_BYTES);
  });

  it('holds an incomplete character back until the end', () => {
    const output = newOutput();
    const [first, second] = [Buffer.from('a界').subarray(0, 3), Buffer.from('界').subarray(2)];
    const shown: string[] = [];
    const look = () => shown.push(output.tail().content);

    for (const bytes of [first, second, first]) {
      output.add(bytes);
      look();
    }
    output.end();
    look();

    expect(shown).toEqual(['a', 'a界', 'a界a', 'a界a\uFFFD']);
  });

  it('shows bytes that are not UTF-8 as replacement characters and logs them if too long', () => {
    const output = newOutput();
    output.add(Buffer.alloc(MAX_OUTPUT_BYTES / 2, 0xff));

    expect(output.tail()).toMatchObject({ truncated: true, totalBytes: MAX_OUTPUT_BYTES / 2, lastLinePartial: true });
    expect(readFileSync(output.log?.path ?? '')).toEqual(Buffer.alloc(MAX_OUTPUT_BYTES / 2, 0xff));
  });
});

it('hasGrown reports whether more was printed since the last call', () => {
  const output = newOutput();

  const results = [output.hasGrown(), output.add(Buffer.from('a')), output.hasGrown(), output.hasGrown()];

  expect(results).toEqual([false, undefined, true, false]);
});

describe('takeNew', () => {
  it('adds up to the whole output, cut between characters', () => {
    const bytes = Buffer.from('aü界😀\n'.repeat(100));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: bytes.length }), (steps) => {
        const output = new CommandOutput();
        let text = '';
        for (let at = 0, step = 0; at < bytes.length; at += steps[step++] ?? 1) {
          output.add(bytes.subarray(at, at + (steps[step] ?? 1)));
          text += output.takeNew().text;
        }
        expect(text).toBe(bytes.toString());
      }),
      { numRuns: 20 },
    );
  });

  it('returns nothing the second time', () => {
    const output = newOutput();
    output.add(Buffer.from('a'));

    expect([output.takeNew(), output.takeNew()]).toEqual([
      { text: 'a', offset: 0, skipped: 0 },
      { text: '', offset: 1, skipped: 0 },
    ]);
  });

  it('ends with a replacement for an incomplete character', () => {
    const output = newOutput();
    output.add(Buffer.from('ü').subarray(0, 1));

    const before = output.takeNew().text;
    output.end();

    expect([before, output.takeNew().text]).toEqual(['', '\uFFFD']);
  });

  it('reports how many bytes it skipped', () => {
    const output = newOutput();
    const piece = Buffer.from('界'.repeat(10_000));
    output.add(piece);
    output.takeNew();
    for (let times = 0; times < 50; times++) output.add(piece);

    const { text, offset, skipped } = output.takeNew();

    expect(/^界+$/.test(text)).toBe(true);
    expect(text.length).toBeGreaterThan(MAX_OUTPUT_BYTES / 3);
    expect(skipped).toBeGreaterThan(0);
    expect(offset).toBe(piece.length + skipped);
    expect(skipped + Buffer.byteLength(text)).toBe(50 * piece.length);
  });
});

describe('the log', () => {
  it('holds no more than its limit and reports the truncation', () => {
    const output = newOutput({ logBytes: 60_000 });
    const printed = 'word\n'.repeat(40_000);
    for (let at = 0; at < printed.length; at += 7000) output.add(Buffer.from(printed.slice(at, at + 7000)));

    expect(output.tail()).toMatchObject({ totalLines: 40_000, totalBytes: 200_000 });
    expect(output.log?.truncatedAt).toBe(60_000);
    expect(logged(output)).toBe(printed.slice(0, 60_000));
  });

  it('that is exactly full is not truncated', () => {
    const output = newOutput({ logBytes: 60_000 });
    output.add(Buffer.alloc(60_000, 'x'));

    expect([output.tail().truncated, output.log?.truncatedAt]).toEqual([true, undefined]);
  });
});

it('an incomplete character does not truncate the output', () => {
  const output = new CommandOutput();

  output.add(Buffer.from([0xe2, 0x82]));
  const early = output.tail();
  output.add(Buffer.from([0xac]));
  output.end();

  expect([early.content, early.truncated]).toEqual(['', false]);
  expect([output.tail().content, output.tail().truncated, output.log]).toEqual(['€', false, undefined]);
});
