import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStreamingJson, parseToolCallArguments, repairJson, ToolCallArgumentsStream } from './json-text.ts';
import { type JsonChange, StreamingJsonParser } from './streaming-json.ts';

const pieces = (text: string, cuts: readonly number[]): string[] => {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((start, index) => text.slice(start, at[index] ?? text.length));
};

/** Applies the changes of a parser to a value of its own. */
function apply(root: { value?: unknown }, changes: readonly JsonChange[]): void {
  for (const change of changes) {
    const path = ['value', ...change.path];
    // biome-ignore lint/suspicious/noExplicitAny: any JSON value
    let holder: any = root;
    for (const key of path.slice(0, -1)) holder = holder[key];
    const last = path.at(-1) ?? 'value';
    const value = change.kind === 'set' ? change.value : holder[last] + change.text;
    Object.defineProperty(holder, last, { value, writable: true, enumerable: true, configurable: true });
  }
}

describe('JSON in pieces', () => {
  it('has the value of the whole text at its end, by snapshot and by changes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat()), (value, cuts) => {
        const parser = new StreamingJsonParser();
        const text = `${JSON.stringify(value)} `;
        const root: { value?: unknown } = {};

        for (const piece of pieces(text, cuts)) apply(root, parser.append(piece));

        expect(parser.snapshot()).toEqual(JSON.parse(text));
        expect(root.value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('never throws, and no later piece changes an earlier snapshot', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0 1ae\n') })), (texts) => {
        const parser = new StreamingJsonParser();
        const seen = texts.map((text) => {
          parser.append(text);
          const snapshot = parser.snapshot();
          return { snapshot, text: JSON.stringify(snapshot) };
        });

        for (const { snapshot, text } of seen) expect(JSON.stringify(snapshot)).toBe(text);
      }),
    );
  });

  it.each([
    ['{"a": "he', { a: 'he' }],
    ['{"a": "x\\', { a: 'x' }],
    ['{"a": "x\\u00', { a: 'x' }],
    ['{"a": "\\d"}', { a: '\\d' }],
    ['{"a": "\\u12", "b": 1', { a: '\\u12', b: 1 }],
    ['{"a": tr', { a: true }],
    ['{"a": 12.', { a: 12 }],
    ['{"a": [1, {"b": 2', { a: [1, { b: 2 }] }],
    ['{"a": 1, "b', { a: 1 }],
    ['{"a": 1, "b":', { a: 1 }],
    ['{"a": 1} trailing', { a: 1 }],
    ['', {}],
    ['not json', {}],
  ])('%j is read as far as it goes', (text, value) => {
    expect(parseStreamingJson(text)).toEqual(value);
  });

  it('reads a long array without copying it for every piece', () => {
    const parser = new StreamingJsonParser();
    parser.append('[');
    const copies = new Set<unknown>();

    for (let item = 0; item < 5000; item++) {
      parser.append('1,');
      copies.add(parser.snapshot());
    }

    expect(copies.size).toBeLessThan(500);
  });
});

describe('arguments of a tool call', () => {
  it('are repaired where they can be, and otherwise reported', () => {
    expect(parseToolCallArguments('{"a":"line\nbreak \\d"}')).toEqual({ arguments: { a: 'line\nbreak \\d' } });
    expect(parseToolCallArguments(undefined)).toEqual({ arguments: {} });
    expect(parseToolCallArguments('[1]')).toMatchObject({
      arguments: {},
      argumentsError: expect.stringContaining('[1]'),
    });
    expect(parseToolCallArguments('{"a":')).toMatchObject({
      arguments: {},
      argumentsError: expect.stringContaining('{"a":'),
    });
    expect(repairJson('{"fine":"\\u0041\\n"}')).toBe('{"fine":"\\u0041\\n"}');
  });

  it('are known while they arrive, and replaced by a complete text', () => {
    const stream = new ToolCallArgumentsStream();
    expect(stream.append('{"path":"a')).toEqual({ path: 'a' });

    expect(stream.replace('{"path":"a.txt"}')).toEqual({ delta: '.txt"}', arguments: { path: 'a.txt' } });
    expect(stream.replace('{"path":"b"}')).toEqual({ delta: undefined, arguments: { path: 'b' } });
    expect(stream.finish()).toEqual({ arguments: { path: 'b' } });
  });
});

describe('large JSON', () => {
  it('an object is copied for as much text as it has members', () => {
    const parser = new StreamingJsonParser();
    const snapshots = new Set<unknown>();
    let copied = 0;
    parser.append('{');
    for (let key = 0; key < 2000; key++) {
      parser.append(`"${key}":1,`);
      const snapshot = parser.snapshot() as object;
      if (!snapshots.has(snapshot)) copied += Object.keys(snapshot).length;
      snapshots.add(snapshot);
    }

    expect(copied).toBeLessThan(20_000);
    parser.append('"last":1}');
    expect(Object.keys(parser.snapshot() as object)).toHaveLength(2001);
  });

  it('a string of some megabytes is repaired', () => {
    const body = `${'x'.repeat(16_000_000)}${'\\"'.repeat(2_000_000)}`;

    expect(repairJson(`{"a": "${body}\n"}`)).toBe(`{"a": "${body}\\n"}`);
  });

  it.each([
    ['"a\\', '"a\\'],
    ['"a\\"', '"a\\"'],
    ['"a\\d" \t"\t', '"a\\\\d" \t"\\t'],
  ])('%j is repaired to %j', (broken, repaired) => {
    expect(repairJson(broken)).toBe(repaired);
  });
});
