import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { frontMatter, MAX_FRONT_MATTER } from './front-matter.ts';

it.each([
  ['values and a body', '---\nname: a\n---\nbody', { name: 'a' }, 'body'],
  ['a body of many lines, trimmed', '---\nname: a\n---\n\n one\n\n---\ntwo \n\n', { name: 'a' }, 'one\n\n---\ntwo'],
  ['nothing between the lines', '---\n---\nbody', {}, 'body'],
  ['blank lines and comments between them', '---\n\n# name: a\n---\nbody', {}, 'body'],
  ['no body', '---\nname: a\n---', { name: 'a' }, ''],
  ['Windows lines', '---\r\nname: a\r\nother: b\r\n---\r\none\r\ntwo\r\n', { name: 'a', other: 'b' }, 'one\ntwo'],
  ['a byte order mark', '\uFEFF---\nname: a\n---\nbody', { name: 'a' }, 'body'],
  ['blanks after the first line', '--- \t\nname: a\n---\nbody', { name: 'a' }, 'body'],
  ['a last line that is longer', '---\nname: a\n-----\nbody', { name: 'a' }, 'body'],
  ['words right behind the last line', '---\nname: a\n--- body', { name: 'a' }, 'body'],
  [
    'values of every kind',
    '---\na: 1\nb: true\nc: [x, y]\nd: null\n---\n',
    { a: 1, b: true, c: ['x', 'y'], d: null },
    '',
  ],
  [
    'words over several lines',
    '---\na: >\n  one\n  two\nb: |\n  one\n  two\n---\n',
    { a: 'one two\n', b: 'one\ntwo\n' },
    '',
  ],
  ['words that older YAML takes for others', '---\na: yes\nb: 2024-01-01\n---\n', { a: 'yes', b: '2024-01-01' }, ''],
  ['a tag that nobody knows', '---\na: !mine b\n---\n', { a: 'b' }, ''],
  ['dashes inside a value', '---\na: b --- c\n ---\n---\nbody', { a: 'b --- c ---' }, 'body'],
])('reads %s', (_title, text, values, body) => {
  expect(frontMatter(text)).toEqual({ values, body });
});

it.each([
  ['plain words', 'name: a\n'],
  ['nothing', ''],
  ['a line before it', '\n---\nname: a\n---\n'],
  ['a line without an end', '---\nname: a\n'],
  ['more than dashes in the first line', '---name\nname: a\n---\n'],
  ['two dashes', '--\nname: a\n--\n'],
])('a text with %s has no front matter', (_title, text) => {
  expect(frontMatter(text)).toEqual({ values: {}, body: text.trim() });
});

it.each([
  ['a list', '- a\n- b', 'its front matter is no list of names and values'],
  ['words', 'just words', 'its front matter is no list of names and values'],
  ['an open bracket', 'a: 1\nb: [', 'its front matter is no YAML: .* at line 4, column 1'],
  ['a colon in a value', 'a: use when: asked', 'its front matter is no YAML: .* at line 2, column 4'],
  ['a name twice', 'a: 1\na: 2', 'its front matter is no YAML: .* at line 3, column 1'],
  ['a second document', 'a: 1\n...\nb: 2', 'its front matter is no YAML: .*'],
  ['brackets without end', '['.repeat(MAX_FRONT_MATTER - 1), 'its front matter is no YAML: .*'],
  [
    'aliases that multiply',
    `a: &a [${'1,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]`,
    'its front matter is no YAML: .*',
  ],
  ['more than anybody writes', `a: ${'x'.repeat(MAX_FRONT_MATTER)}`, 'its front matter is too long'],
])('%s becomes a one-line problem, and the body is kept', (_title, yaml, problem) => {
  expect(frontMatter(`---\n${yaml}\n---\nbody`)).toEqual({
    values: {},
    body: 'body',
    problem: expect.stringMatching(new RegExp(`^${problem}$`)),
  });
});

it('front matter of the maximum length is read', () => {
  const { values } = frontMatter(`---\na: ${'x'.repeat(MAX_FRONT_MATTER - 4)}\n---\nbody`);

  expect(values['a']).toHaveLength(MAX_FRONT_MATTER - 4);
});

it('names of Object.prototype are ordinary keys', () => {
  const { values } = frontMatter('---\n__proto__: {polluted: true}\nconstructor: a\n---\n');

  expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  expect(Object.hasOwn(values, '__proto__')).toBe(true);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it('written front matter is read back unchanged', () => {
  const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((name) => name !== '__proto__');
  const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.boolean(), fc.integer(), fc.array(fc.string()));
  const written = fc.dictionary(names, value, { noNullPrototype: true });
  const body = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\r\n', '\n').trim());
  fc.assert(
    fc.property(written, body, fc.constantFrom('\n', '\r\n'), (values, text, newline) => {
      const yaml = stringify(values);
      fc.pre(!/^---/m.test(yaml) && !/[\r\u2028\u2029]/.test(yaml + text) && !text.startsWith('-'));
      const file = `---\n${yaml}---\n${text}\n`.replaceAll('\n', newline);

      expect(frontMatter(file)).toEqual({ values, body: text });
    }),
  );
});

it('no input makes it throw', () => {
  const line = fc.oneof(fc.constantFrom('---', '- a', 'a: b', 'a: [', '&a *a', '? !!x', '%', '"', '\t'), fc.string());
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const { values, body } = frontMatter(['---', ...lines].join('\n'));

      expect(typeof values).toBe('object');
      expect(body).toBe(body.trim());
    }),
  );
});
