import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoundLine, RipgrepOutput } from './ripgrep.ts';

function read(chunks: readonly (string | Buffer)[]): { lines: FoundLine[]; message: string } {
  const lines: FoundLine[] = [];
  const output = new RipgrepOutput((line) => lines.push(line));
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  return { lines, message: output.message };
}

const match = (path: string, number: number, text: string): FoundLine => ({ path, number, isMatch: true, text });

describe('ripgrep output', () => {
  it('is parsed into lines with path and number', () => {
    expect(read(['./a\u00001-before\n./a\u00002:found: it\n'])).toEqual({
      lines: [{ ...match('./a', 1, 'before'), isMatch: false }, match('./a', 2, 'found: it')],
      message: '',
    });
  });

  it('may contain any bytes', () => {
    expect(read([Buffer.from('./n\xFF\n\x001:\xFF\0\n', 'latin1')]).lines).toEqual([
      match('./n\uFFFD\n', 1, '\uFFFD\0'),
    ]);
  });

  it('without a found line is a message', () => {
    expect(read(['rg: no\n', 'good\n'])).toEqual({ lines: [], message: 'rg: no\ngood\n' });
  });

  it('may contain a warning about the previous binary file', () => {
    const warning = './a: WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)\n';

    expect(read([`./a\u00001:x\n${warning}./b\u00001:y\n${warning}`]).lines).toEqual([
      match('./a', 1, 'x'),
      match('./b', 1, 'y'),
    ]);
  });

  it('may arrive in chunks of any size', () => {
    const whole = Buffer.from('./ä\u00001:ö ü\n./b\u000022-\n./c\nd\u0000333:界🙂\n');

    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const ends = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const chunks = ends.slice(1).map((end, index) => whole.subarray(ends[index], end));

        expect(read(chunks)).toEqual(read([whole]));
      }),
    );
  });

  it('is buffered only as far as it may be shown', () => {
    const { lines } = read(['./a\u00001:', ...Array<string>(1000).fill('x'.repeat(1000)), '\n./b\u00001:y\n']);

    expect(lines.map(({ path, text }) => [path, text.length < 20_000])).toEqual([
      ['./a', true],
      ['./b', true],
    ]);
  });
});
