import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../system/testing/script.ts';
import type { ToolOutput } from '../../tool.ts';
import { MAX_OUTPUT_BYTES } from '../truncate.ts';
import { readTool } from './read.ts';

const cwd = temporaryFolder();
let files = 0;

/** Writes a file and returns its name. */
function file(content: string | Buffer): string {
  const name = `file-${++files}.txt`;
  writeFileSync(join(cwd, name), content);
  return name;
}

const read = (args: Record<string, unknown>, signal = new AbortController().signal): Promise<ToolOutput> =>
  readTool(cwd).execute({ toolCallId: 'call', args, signal, update: () => {} });

const textOf = ({ content: [block] }: ToolOutput) => (block?.type === 'text' ? block.text : '');
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');

describe('a file', () => {
  it.each([
    ['', ''],
    ['one', 'one'],
    ['a\nb\n', 'a\nb\n'],
    ['a\r\nb', 'a\r\nb'],
    ['\uFEFFbom', '\uFEFFbom'],
    ['naïve 界 🙂', 'naïve 界 🙂'],
  ])('within the limits is returned whole: %j', async (content, text) => {
    expect(await read({ path: file(content) })).toEqual({ content: [{ type: 'text', text }] });
  });

  it('that is a pipe is rejected', async () => {
    execFileSync('mkfifo', [join(cwd, 'pipe')]);

    await expect(read({ path: 'pipe' })).rejects.toThrow(`Not a regular file: ${join(cwd, 'pipe')}`);
  });

  it('that is missing fails with ENOENT', async () => {
    await expect(read({ path: 'missing.txt' })).rejects.toThrow(
      `ENOENT: no such file or directory, open '${join(cwd, 'missing.txt')}'`,
    );
  });

  it('that is a folder fails with EISDIR', async () => {
    mkdirSync(join(cwd, 'folder'));

    await expect(read({ path: 'folder' })).rejects.toThrow('EISDIR');
  });

  it('with a NUL in its name is rejected', async () => {
    await expect(read({ path: 'a\0b' })).rejects.toThrow('A path cannot hold a NUL character: "a\\u0000b"');
  });

  it.each([
    ['a program', Buffer.from('\x7FELF\x02\x01\x01\0\0\0', 'latin1'), '10B'],
    ['compressed', gzipSync(numbered(5000)), /[\d.]+KB/],
    ['short and without a NUL', Buffer.from([0x80, 0xff, 0x03, 0xfe, 0x41, 0x9c]), '6B'],
  ])('that is binary is not shown: %s', async (_what, content, size) => {
    const path = file(content);

    expect(textOf(await read({ path }))).toMatch(
      new RegExp(`^\\[Binary file of ${typeof size === 'string' ? size : size.source}, not shown\\. Use bash`),
    );
  });

  it.each([
    ['in another encoding', Buffer.from('Grüße, schöne', 'latin1'), 'Gr\uFFFD\uFFFDe, sch\uFFFDne'],
    ['with colours', Buffer.from('\x1B[1mbold\x1B[0m'), '\x1B[1mbold\x1B[0m'],
  ])('%s counts as text', async (_what, content, text) => {
    expect(textOf(await read({ path: file(content) }))).toBe(text);
  });

  it('of the system is read although it reports size 0', async () => {
    expect(textOf(await read({ path: '/proc/self/status' }))).toMatch(/^Name:/);
  });

  it('is not read after an abort', async () => {
    await expect(read({ path: file('x') }, AbortSignal.abort())).rejects.toThrow('aborted');
  });
});

describe('a range', () => {
  it('that leaves lines unread names the next offset', async () => {
    expect(textOf(await read({ path: file(numbered(10)), offset: 3, limit: 2 }))).toBe(
      'line 3\nline 4\n\n[6 more lines in file. Use offset=5 to continue.]',
    );
  });

  it('that reaches the end adds no notice', async () => {
    expect(textOf(await read({ path: file(numbered(10)), offset: 9, limit: 100 }))).toBe('line 9\nline 10');
  });

  it('may start at the last line but not beyond it', async () => {
    const path = file(numbered(10));

    expect(textOf(await read({ path, offset: 10 }))).toBe('line 10');
    await expect(read({ path, offset: 11 })).rejects.toThrow('Offset 11 is beyond end of file (10 lines total)');
  });

  it('counts the empty line after the last break', async () => {
    await expect(read({ path: file('a\nb\n'), offset: 4 })).rejects.toThrow(
      'Offset 4 is beyond end of file (3 lines total)',
    );
  });
});

describe('a file that is too long', () => {
  it('is truncated after 2000 lines', async () => {
    const output = await read({ path: file(numbered(2500)) });

    expect(textOf(output)).toBe(`${numbered(2000)}\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]`);
    expect(output.details).toMatchObject({
      truncation: { truncated: true, truncatedBy: 'lines', totalLines: 2500, outputLines: 2000 },
    });
  });

  it('is truncated after 2000 lines of a range too', async () => {
    const output = await read({ path: file(numbered(2500)), offset: 101, limit: 2100 });

    expect(textOf(output)).toMatch(
      /^line 101\n.*\nline 2100\n\n\[Showing lines 101-2100 of 2500\. Use offset=2101 to continue\.\]$/s,
    );
  });

  it('is truncated after 50 KiB', async () => {
    const line = 'x'.repeat(1023);
    const path = file(Array.from({ length: 60 }, () => line).join('\n'));

    const output = await read({ path, offset: 2 });

    const shown = Array.from({ length: 50 }, () => line).join('\n');
    expect(textOf(output)).toBe(`${shown}\n\n[Showing lines 2-51 of 60 (50.0KB limit). Use offset=52 to continue.]`);
    expect(output.details).toMatchObject({ truncation: { truncatedBy: 'bytes', outputLines: 50 } });
  });

  it('returns nothing of a line over the limit, and names a command to read it', async () => {
    const path = file(`a\n${'x'.repeat(100 * 1024)}\nb`);

    const output = await read({ path, offset: 2 });

    expect(textOf(output)).toBe(
      `[Line 2 is 100.0KB, exceeds 50.0KB limit. Use bash: sed -n '2p' ${path} | head -c 51200]`,
    );
    expect(output.details).toMatchObject({ truncation: { firstLineExceedsLimit: true, outputLines: 0 } });
  });

  it('stops before a line over the limit', async () => {
    const path = file(`a\n${'x'.repeat(MAX_OUTPUT_BYTES)}\nb`);

    expect(textOf(await read({ path }))).toBe(
      'a\n\n[Showing lines 1-1 of 3 (50.0KB limit). Use offset=2 to continue.]',
    );
  });
});

describe('a file larger than memory', () => {
  const path = join(cwd, 'huge');
  const bytes = 300 * 1024 * 1024;

  /** A sparse file: its hole takes no disk space. */
  function writeHuge(): void {
    const fd = openSync(path, 'w');
    writeSync(fd, `${numbered(3)}\n${'x'.repeat(16 * 1024)}`);
    writeSync(fd, '\nlast but one\nlast', bytes);
    closeSync(fd);
  }

  it('returns its first and last lines in constant memory', async () => {
    writeHuge();
    const before = process.memoryUsage().rss;

    const first = await read({ path, limit: 2 });
    const last = await read({ path, offset: 5 });

    expect(textOf(first)).toBe('line 1\nline 2\n\n[4 more lines in file. Use offset=3 to continue.]');
    expect(textOf(last)).toBe('last but one\nlast');
    expect(process.memoryUsage().rss - before).toBeLessThan(bytes / 4);
  });

  it('reports the length of a line over the limit', async () => {
    writeHuge();

    expect(textOf(await read({ path, offset: 4 }))).toMatch(/^\[Line 4 is 300\.0MB, exceeds 50\.0KB limit\./);
  });

  it('is no longer read after an abort', async () => {
    writeHuge();
    const abort = new AbortController();

    const reading = read({ path }, abort.signal);
    setImmediate(() => abort.abort());

    await expect(reading).rejects.toThrow('aborted');
  });
});

it('following the offsets of the notices returns every line once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ length: fc.integer({ min: 0, max: 40_000 }), times: fc.integer({ min: 1, max: 1500 }) }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined }),
      async (runs, limit) => {
        const lines = runs.flatMap(({ length, times }) =>
          Array.from({ length: Math.min(times, Math.ceil(400_000 / (length + 1))) }, () => 'x'.repeat(length)),
        );
        const path = file(lines.join('\n'));
        const seen: string[] = [];
        let next: string | undefined = '1';
        while (next !== undefined) {
          const output = await read({ path, offset: Number(next), ...(limit === undefined ? {} : { limit }) });
          const continued = /^(.*?)(?:\n\n)?\[.* Use offset=(\d+) to continue\.\]$/s.exec(textOf(output));
          seen.push(...(continued?.[1] ?? textOf(output)).split('\n'));
          next = continued?.[2];
        }

        expect(seen.length).toBe(lines.length);
        expect(seen.join('\n') === lines.join('\n')).toBe(true);
      },
    ),
    { numRuns: 15 },
  );
});
