import { existsSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputLog } from './output-log.ts';
import { keepTail, MAX_BYTES } from './truncate.ts';

/** What the log must say about everything that was printed. */
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
  it('is that of the whole output, however it was cut into writes and looks', () => {
    fc.assert(
      fc.property(fc.array(anyPiece, { maxLength: 8 }), (pieces) => {
        using log = OutputLog.create();
        let printed = '';
        for (const { unit, times } of pieces) {
          const piece = unit.repeat(times);
          writeSync(log.fd, piece);
          printed += piece;

          const { content, ...tail } = log.tail();

          const { content: wanted, ...rest } = expected(printed);
          expect(tail).toEqual(rest);
          expect(content === wanted).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['and ends', '\n'],
    ['and does not end', ''],
    ['and follows another', '\n', 'first\n'],
  ])('of a line longer than what is looked at %s is the end of that line', (_how, end, before = '') => {
    using log = OutputLog.create();
    writeSync(log.fd, `${before}${'x'.repeat(5 * MAX_BYTES)}${end}`);

    const tail = log.tail();

    expect(tail).toMatchObject({
      truncated: true,
      truncatedBy: 'bytes',
      lastLinePartial: true,
      outputBytes: MAX_BYTES,
    });
    expect(/^x+$/.test(tail.content)).toBe(true);
  });
});

it('knows whether more was printed since it was asked', () => {
  using log = OutputLog.create();

  const answers = [log.grew(), writeSync(log.fd, 'a'), log.grew(), log.grew()];

  expect(answers).toEqual([false, 1, true, false]);
});

describe('the file', () => {
  it('is for its owner only, and gone afterwards', () => {
    const log = OutputLog.create();
    expect(statSync(log.path).mode & 0o777).toBe(0o600);

    log[Symbol.dispose]();

    expect(existsSync(log.path)).toBe(false);
  });

  it('is left behind when somebody wants it', () => {
    const log = OutputLog.create();
    writeSync(log.fd, 'all of it');
    log.keep();

    log[Symbol.dispose]();

    expect(readFileSync(log.path, 'utf8')).toBe('all of it');
    rmSync(log.path);
  });
});
