import fc from 'fast-check';
import { expect, it } from 'vitest';
import { frontMatter } from './front-matter.ts';

it.each([
  ['values above a text', '---\na: 1\nb: [x, y]\n---\n\nText\n', { values: { a: 1, b: ['x', 'y'] }, body: 'Text' }],
  ['nothing above a text', 'Text\n---\na: 1\n---\n', { values: {}, body: 'Text\n---\na: 1\n---' }],
  ['values without a text', '---\na: 1\n---', { values: { a: 1 }, body: '' }],
  ['no values', '---\n---\nText', { values: {}, body: 'Text' }],
  ['only a comment', '---\n# nothing\n---\nText', { values: {}, body: 'Text' }],
  ['a head that does not end', '---\na: 1\nText', { values: {}, body: '---\na: 1\nText' }],
  [
    'lines of Windows and a mark',
    '\uFEFF---\r\na: |\r\n  x\r\n  y\r\n---\r\nText\r\nMore',
    { values: { a: 'x\ny\n' }, body: 'Text\nMore' },
  ],
  ['a longer line at the end', '---\na: 1\n----\nText', { values: { a: 1 }, body: 'Text' }],
])('%s', (_, text, expected) => {
  expect(frontMatter(text)).toEqual(expected);
});

it.each([
  ['---\na: [1\n---\nText', /^the front matter is no YAML: /],
  ['---\nglobs: *.ts\n---\nText', /^the front matter is no YAML: /],
  ['---\n- a\n---\nText', /must hold names and values/],
  ['---\nwords\n---\nText', /must hold names and values/],
])('what is wrong with %j is told in one line', (text, problem) => {
  const read = frontMatter(text);

  expect(read).toEqual({ values: {}, body: 'Text', problem: expect.stringMatching(problem) });
  expect(read.problem).not.toContain('\n');
});

it('no text makes it throw', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('---', '\n', '\r', 'a: ', '&b ', '*b', '[', '{', '"', ' ', 'x', '!!t ')),
      (parts) => {
        for (const text of [parts.join(''), `---\n${parts.join('')}\n---\nx`]) {
          expect(typeof frontMatter(text).body).toBe('string');
        }
      },
    ),
  );
});

it('a name that is everybody’s is a value like any other', () => {
  expect(Object.getPrototypeOf(frontMatter('---\n__proto__: {a: 1}\n---\n').values)).toBe(Object.prototype);
});
