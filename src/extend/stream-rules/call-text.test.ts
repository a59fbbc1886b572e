import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallText, pathIn } from './call-text.ts';

/** The text of JSON that arrives in pieces of this length. */
function textOf(json: string, length: number): string {
  const text = new CallText();
  let whole = '';
  for (let at = 0; at < json.length; at += length) whole += text.add(json.slice(at, at + length));
  return whole;
}

it('escapes are decoded wherever the pieces are cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 7 }), (value, length) => {
      const escaped = JSON.stringify({ value }).replaceAll(/[^ -~]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
      for (const json of [JSON.stringify({ value }), escaped]) {
        expect(textOf(json, length)).toBe(`{"value":"${value}"}`);
      }
    }),
  );
});

it.each([
  ['{"path":"a.ts","content":"', 'a.ts'],
  ['{ "limit" : 12 , "deep": true, "text": "\\"path\\": \\"no\\"", "file_path" : "a\\"b.ts"', 'a"b.ts'],
  ['{"filePath":"src/a.ts"}', 'src/a.ts'],
  ['{"path":"a.t', undefined],
  ['{"edits":[{"path":"no"}],"path":"a.ts"}', undefined],
  ['{"path":12,"other":"x"}', undefined],
  ['{"path":"\\u00', undefined],
  ['', undefined],
])('the path in %s is %s', (json, path) => {
  const text = new CallText();
  text.add(json);

  expect(text.path).toBe(path);
});

it('a complete call yields its path argument under any of the usual names', () => {
  expect([{ path: 1, file_path: 'a' }, { filePath: 'b' }, { name: 'c' }].map(pathIn)).toEqual(['a', 'b', undefined]);
});

it('malformed input neither throws nor takes long', () => {
  const text = new CallText();

  for (const piece of ['\\'.repeat(100_001), '"'.repeat(100_000), '{"a":'.repeat(1000)]) text.add(piece);

  expect(text.path).toBeUndefined();
});
