import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLenient } from './lenient-json.ts';

describe('parseLenient', () => {
  it('parses comments and trailing commas', () => {
    const text = `// first
    { /* a { block
         of lines */ "a": [1, 2, /* none */ ], // , }
      "b": {"c": "//no comment, }", "d": "/* \\" // */",}, // last
    }
    /* never ends`;

    expect(parseLenient(text)).toEqual({ a: [1, 2], b: { c: '//no comment, }', d: '/* " // */' } });
  });

  it('parses all JSON, also after a comment', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseLenient(`// comment\n${text}`)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(['{', '{"a" 1}', '[1,,]', '"', '/', ''])('rejects %j', (text) => {
    expect(() => parseLenient(text)).toThrow(SyntaxError);
  });

  it('reports the position of a mistake', () => {
    expect(() => parseLenient('/* x */ {"a": "b" "c"}')).toThrow('position 18');
  });

  it.each([
    ['a string that never ends', `"${'\\"'.repeat(2_000_000)}`],
    ['quotes', '"'.repeat(4_000_001)],
    ['slashes', '/'.repeat(4_000_000)],
    ['commas', ', '.repeat(2_000_000)],
    ['the beginning of comments', '/*'.repeat(2_000_000)],
    ['backslashes', '\\'.repeat(4_000_000)],
  ])('rejects %s in linear time', (_what, text) => {
    expect(() => parseLenient(text)).toThrow(Error);
  });
});
