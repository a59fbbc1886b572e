import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBytes, keepHead, keepTail, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from './truncate.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

/** Runs of equal lines around the limits, with one to three bytes per character. */
const anyRuns = fc
  .array(
    fc.record({
      unit: fc.constantFrom('x', 'ü', '界'),
      length: fc.oneof(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 60_000 })),
      times: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2100 })),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .filter((runs) => runs.reduce((sum, { length, times }) => sum + length * times, 0) < 1_000_000);

type Runs = { unit: string; length: number; times: number }[];

const linesOf = (runs: Runs) =>
  runs.flatMap(({ unit, length, times }) => Array.from({ length: times }, () => unit.repeat(length)));

const exceedsLimits = (lines: readonly string[]) =>
  lines.length > MAX_OUTPUT_LINES || Buffer.byteLength(lines.join('\n')) > MAX_OUTPUT_BYTES;

describe('keepHead', () => {
  it('keeps a text within the limits unchanged', () => {
    expect(keepHead('a\nb\n')).toEqual({
      content: 'a\nb\n',
      truncated: false,
      truncatedBy: null,
      totalLines: 3,
      totalBytes: 4,
      outputLines: 3,
      outputBytes: 4,
      lastLinePartial: false,
      firstLineExceedsLimit: false,
      maxLines: 2000,
      maxBytes: 51200,
    });
  });

  it('keeps the first 2000 lines', () => {
    const lines = numbered(2001);

    const kept = keepHead(lines.join('\n'));

    expect(kept.content).toBe(lines.slice(0, 2000).join('\n'));
    expect(kept).toMatchObject({ truncated: true, truncatedBy: 'lines', totalLines: 2001, outputLines: 2000 });
  });

  it('keeps whole lines of the first 50 KiB', () => {
    const line = 'x'.repeat(1023);

    const kept = keepHead(Array.from({ length: 51 }, () => line).join('\n'));

    expect(kept).toMatchObject({ truncated: true, truncatedBy: 'bytes', totalLines: 51, outputLines: 50 });
    expect(kept.outputBytes).toBe(50 * 1024 - 1);
  });

  it('keeps nothing if the first line alone is too long', () => {
    expect(keepHead('x'.repeat(MAX_OUTPUT_BYTES + 1))).toMatchObject({
      content: '',
      truncated: true,
      truncatedBy: 'bytes',
      firstLineExceedsLimit: true,
      outputLines: 0,
      outputBytes: 0,
    });
  });

  it('counts bytes, not characters', () => {
    expect(keepHead('界'.repeat(MAX_OUTPUT_BYTES / 3 + 1)).firstLineExceedsLimit).toBe(true);
  });

  it('keeps as many whole lines as fit and reports the truncation', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const lines = linesOf(runs);

        const kept = keepHead(lines.join('\n'));

        const whole = lines.slice(0, kept.outputLines);
        expect(kept.content === whole.join('\n')).toBe(true);
        expect(kept.outputBytes).toBe(Buffer.byteLength(kept.content));
        expect(exceedsLimits(whole)).toBe(false);
        expect(kept.truncated).toBe(kept.outputLines < lines.length);
        expect(kept.truncated).toBe(exceedsLimits(lines));
        if (kept.truncated) expect(exceedsLimits(lines.slice(0, kept.outputLines + 1))).toBe(true);
      }),
    );
  });
});

describe('keepTail', () => {
  it('keeps a text within the limits unchanged, with its final newline', () => {
    expect(keepTail('a\nb\n', { lines: 2, bytes: 4 })).toMatchObject({
      content: 'a\nb\n',
      truncated: false,
      truncatedBy: null,
      totalLines: 2,
      outputLines: 2,
    });
  });

  it('counts no lines in an empty text', () => {
    expect(keepTail('', { lines: 0, bytes: 0 })).toMatchObject({ content: '', truncated: false, outputLines: 0 });
  });

  it('keeps the last 2000 lines; a final newline starts no line', () => {
    const lines = numbered(2001);

    const kept = keepTail(`${lines.join('\n')}\n`, { lines: 2001, bytes: 1 });

    expect(kept.content).toBe(lines.slice(1).join('\n'));
    expect(kept).toMatchObject({ truncated: true, truncatedBy: 'lines', totalLines: 2001, outputLines: 2000 });
  });

  it('keeps the end of a last line that alone is too long', () => {
    const kept = keepTail(`first\n${'界'.repeat(MAX_OUTPUT_BYTES)}`, { lines: 2, bytes: 6 + 3 * MAX_OUTPUT_BYTES });

    expect(kept.content).toBe('界'.repeat(Math.floor(MAX_OUTPUT_BYTES / 3)));
    expect(kept).toMatchObject({ truncated: true, truncatedBy: 'bytes', outputLines: 1, lastLinePartial: true });
  });

  it('keeps as many whole lines as fit, or the end of the last, and reports the truncation', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const lines = linesOf(runs);
        const text = `${lines.join('\n')}\n`;

        const kept = keepTail(text, { lines: lines.length, bytes: Buffer.byteLength(text) });

        const whole = lines.slice(-kept.outputLines);
        expect(kept.outputBytes).toBe(Buffer.byteLength(kept.content));
        expect(kept.truncated).toBe(exceedsLimits(lines));
        if (kept.lastLinePartial) {
          expect(lines.at(-1)?.endsWith(kept.content)).toBe(true);
          expect(kept.outputBytes).toBeLessThanOrEqual(MAX_OUTPUT_BYTES);
          expect(kept.outputBytes).toBeGreaterThan(MAX_OUTPUT_BYTES - 3);
        } else if (kept.truncated) {
          expect(kept.content === whole.join('\n')).toBe(true);
          expect(exceedsLimits(whole)).toBe(false);
          expect(exceedsLimits(lines.slice(-kept.outputLines - 1))).toBe(true);
        } else expect(kept.content === text).toBe(true);
      }),
    );
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0B'],
    [1023, '1023B'],
    [1024, '1.0KB'],
    [51200, '50.0KB'],
    [1024 * 1024 - 1, '1024.0KB'],
    [1024 * 1024, '1.0MB'],
  ])('formats %i bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
