import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InputLine, LineReader, MAX_LINE_BYTES, toLine } from './json-lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function read(chunks: readonly Uint8Array[], limit?: number): InputLine[] {
  const reader = new LineReader(limit);
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

/** Cuts at these positions, which may repeat: then a chunk is empty. */
function cutAt(whole: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const edges = [0, ...positions.map((at) => at % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return edges.slice(1).map((edge, index) => whole.subarray(edges[index], edge));
}

const separatorLike = fc.constantFrom(
  '\u2028',
  '\u2029',
  '\u0085',
  '\r',
  '\uFEFF',
  '\v',
  '\f',
  '\0',
  '€',
  '𝄞',
  '👩‍👩‍👧',
  'é',
  '"',
  '\\',
);
const anyText = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), separatorLike) });
const anyRecord = fc.record({ type: anyText, id: fc.jsonValue(), text: anyText });
const anyCuts = fc.array(fc.nat());

describe('LineReader', () => {
  it('[F4 F5 F6 F11] returns lines whole and in order, however they end and wherever they are cut', () => {
    const endings = fc.constantFrom('\n', '\r\n');
    const lines = fc.array(fc.tuple(anyRecord, endings));

    fc.assert(
      fc.property(lines, anyCuts, (records, cuts) => {
        const sent = records.map(([record]) => JSON.stringify(record));
        const input = records.map(([, ending], index) => sent[index] + ending).join('');

        expect(read(cutAt(bytes(input), cuts))).toEqual(sent.map((text) => ({ text })));
      }),
    );
  });

  it('[F4] breaks at no character but LF', () => {
    const text = 'a\rb\vc\fd\u0085e\u2028f\u2029g\0h';

    expect(read([bytes(`${text}\nnext\n`)])).toEqual([{ text }, { text: 'next' }]);
  });

  it('[F5] drops one CR before the LF, and no other', () => {
    expect(read([bytes('\ra\rb\r\r\n'), bytes('c\r'), bytes('\n')])).toEqual([{ text: '\ra\rb\r' }, { text: 'c' }]);
  });

  it('[F9] drops a byte order mark at the start, even if it is cut', () => {
    const [first, ...rest] = bytes('\uFEFF{}\n');

    expect(read([Uint8Array.of(first ?? 0), Uint8Array.from(rest)])).toEqual([{ text: '{}' }]);
    expect(read([bytes('\uFEFF\n\uFEFF')])).toEqual([]);
  });

  it('[F10] skips blank lines', () => {
    expect(read([bytes('\n\r\n \t \n{}\n\n')])).toEqual([{ text: '{}' }]);
  });

  it('does not treat other white space as a blank line: it is no JSON', () => {
    expect(read([bytes('\u00A0\n\u3000\n')])).toEqual([{ text: '\u00A0' }, { text: '\u3000' }]);
  });

  it('[F12] returns a last line without LF at the end, once', () => {
    const reader = new LineReader();

    expect(reader.push(bytes('{"a":1}\n{"b"'))).toEqual([{ text: '{"a":1}' }]);
    expect(reader.push(bytes(':2}'))).toEqual([]);
    expect(reader.end()).toEqual([{ text: '{"b":2}' }]);
    expect(reader.end()).toEqual([]);
  });

  it('replaces bytes that are not UTF-8, and reads on', () => {
    const chunks = [Uint8Array.of(0x61, 0xff, 0xc3, 10), Uint8Array.of(0xa9, 10), bytes('ok\n')];

    expect(read(chunks)).toEqual([{ text: 'a\uFFFD\uFFFD' }, { text: '\uFFFD' }, { text: 'ok' }]);
  });

  it('copies its input: the caller may reuse a chunk', () => {
    const reader = new LineReader();
    const chunk = bytes('abc');

    reader.push(chunk);
    chunk.fill(0x78);

    expect(reader.push(bytes('d\n'))).toEqual([{ text: 'abcd' }]);
  });

  it('[F13] reports the length and the head of a line over the limit, and reads the others', () => {
    const limit = 20;
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é', '€'), minLength: 1, maxLength: 30 }));

    fc.assert(
      fc.property(lines, anyCuts, (texts, cuts) => {
        const expected = texts.map((text) => {
          const size = bytes(text).length;
          return size > limit ? { tooLong: size, head: text } : { text };
        });

        expect(read(cutAt(bytes(texts.map((text) => `${text}\n`).join('')), cuts), limit)).toEqual(expected);
      }),
    );
  });

  it('[F13] accepts 64 MiB and rejects one byte more, keeping only the head', () => {
    const full = new Uint8Array(MAX_LINE_BYTES).fill(0x61);
    const end = bytes('\nnext\n');

    const [whole] = read([full, end]);
    const [tooLong, next] = read([full, bytes('b'), end]);

    expect(whole && 'text' in whole && whole.text.length).toBe(MAX_LINE_BYTES);
    expect(tooLong).toEqual({ tooLong: MAX_LINE_BYTES + 1, head: 'a'.repeat(4096) });
    expect(next).toEqual({ text: 'next' });
  });

  it('[F13] discards a line that continues long after the limit', () => {
    const part = new Uint8Array(1024 * 1024).fill(0x61);
    const reader = new LineReader();

    const early = Array.from({ length: 500 }, () => reader.push(part)).flat();

    expect(early).toEqual([]);
    const tooLong = { tooLong: 500 * part.length, head: 'a'.repeat(4096) };
    expect(reader.push(bytes('\n{}\n'))).toEqual([tooLong, { text: '{}' }]);
  });

  it('[F12 F13] reports a line that is too long at the end of the input too', () => {
    expect(read([bytes('abc'), bytes('def')], 5)).toEqual([{ tooLong: 6, head: 'abcdef' }]);
  });

  // A reader that scanned or copied the whole line again for every chunk would need hours.
  it('[F14] reads 8 MiB that arrive byte by byte, and 64 MiB that arrive in kilobytes', () => {
    const reader = new LineReader();
    const one = bytes('a');
    const thousand = new Uint8Array(1024).fill(0x61);

    for (let count = 0; count < 8 * 1024 * 1024; count++) reader.push(one);
    const [slow] = reader.push(bytes('\n'));
    for (let count = 0; count < 64 * 1024; count++) reader.push(thousand);
    const [fast] = reader.push(bytes('\n'));

    expect(slow && 'text' in slow && slow.text.length).toBe(8 * 1024 * 1024);
    expect(fast && 'text' in fast && fast.text.length).toBe(MAX_LINE_BYTES);
  });
});

describe('toLine', () => {
  it('[F1 F3 F7] writes any record as one line for every line reader', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const line = toLine(record);

        expect(line.endsWith('\n')).toBe(true);
        expect(line.slice(0, -1)).not.toMatch(/[\n\r\v\f\u0085\u2028\u2029]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(record)));
      }),
    );
  });

  it('[F7] escapes line separators in names and in texts', () => {
    expect(toLine({ 'a\u2028': 'b\u2029c\u0085' })).toBe('{"a\\u2028":"b\\u2029c\\u0085"}\n');
  });

  it('writes half a surrogate pair as an escape, not as a replacement', () => {
    expect(toLine({ a: '\uD800' })).toBe('{"a":"\\ud800"}\n');
  });
});
