import { expect, it } from 'vitest';
import { parseBlocks } from '../../src/web/markdown/blocks.ts';
import { type Inline, parseInline } from '../../src/web/markdown/inline.ts';

/** A short way to write what was read: marks around what is marked. */
function outline(inlines: readonly Inline[]): string {
  const marks = { strong: 'b', emphasis: 'i', strike: 's' };
  return inlines
    .map((inline) => {
      if ('text' in inline) return inline.type === 'code' ? `code(${inline.text})` : inline.text;
      if (inline.type === 'break') return '⏎';
      if (inline.type === 'link') return `link(${inline.href} ${outline(inline.children)})`;
      return `${marks[inline.type]}(${outline(inline.children)})`;
    })
    .join('');
}

it.each([
  ['plain', 'plain'],
  ['**bold** and *slanted*', 'b(bold) and i(slanted)'],
  ['***both***', 'i(b(both))'],
  ['**bold *and slanted* still**', 'b(bold i(and slanted) still)'],
  ['~~gone~~', 's(gone)'],
  ['snake_case_name and _real_', 'snake_case_name and i(real)'],
  ['2 * 3 * 4', '2 * 3 * 4'],
  ['`a*b*`', 'code(a*b*)'],
  ['`` a`b ``', 'code(a`b)'],
  ['`open', '`open'],
  ['\\*not\\*', '*not*'],
  ['a\\\nb', 'a⏎b'],
  ['a  \nb', 'a  ⏎b'],
  ['<b>bold</b>', '<b>bold</b>'],
  ['[a *b*](https://x.example/ "t")', 'link(https://x.example/ a i(b))'],
  ['[a](https://x.example/a_(b))', 'link(https://x.example/a_(b) a)'],
  ['[a](javascript:alert(1))', 'a (javascript:alert(1))'],
  ['![a](https://x.example/a.png)', 'link(https://x.example/a.png a)'],
  ['see https://x.example/a_b. Yes', 'see link(https://x.example/a_b https://x.example/a_b). Yes'],
  ['(https://x.example/)', '(link(https://x.example/ https://x.example/))'],
  ['**https://x.example/**', 'b(link(https://x.example/ https://x.example/))'],
  ['<mailto:a@x.example>', 'link(mailto:a@x.example mailto:a@x.example)'],
  ['[ ] not [a] link', '[ ] not [a] link'],
  ['****', '****'],
])('reads %j', (text, expected) => {
  expect(outline(parseInline(text))).toBe(expected);
});

it('reads blocks', () => {
  const text = [
    '# Title #',
    'Two lines',
    'of a paragraph',
    '- one',
    '  - nested',
    '- [x] done',
    '',
    '3. three',
    '4. four',
    '',
    '   more of four',
    '> quoted',
    '> > twice',
    '```ts',
    '# no title',
    '```',
    '| a | b |',
    '|---|:-:|',
    '| 1 | \\| |',
    '---',
    'end',
  ].join('\n');

  const blocks = parseBlocks(text);

  expect(blocks.map(({ type }) => type)).toEqual([
    'heading',
    'paragraph',
    'list',
    'list',
    'quote',
    'code',
    'table',
    'rule',
    'paragraph',
  ]);
  expect(blocks[2]).toMatchObject({
    start: undefined,
    items: [{ blocks: [{ type: 'paragraph' }, { type: 'list' }] }, { isDone: true }],
  });
  expect(blocks[3]).toMatchObject({
    start: 3,
    items: [{}, { blocks: [{ type: 'paragraph' }, { type: 'paragraph' }] }],
  });
  expect(blocks[4]).toMatchObject({ blocks: [{ type: 'paragraph' }, { type: 'quote' }] });
  expect(blocks[5]).toEqual({ type: 'code', language: 'ts', text: '# no title' });
  expect(blocks[6]).toMatchObject({ rows: [[[{ text: '1' }], [{ text: '|' }]]] });
});

it('a fence that is never closed goes to the end', () => {
  expect(parseBlocks('```\na\n\nb')).toEqual([{ type: 'code', language: '', text: 'a\n\nb' }]);
});

it.each(['*', '[', '`', '_a', '![](', '> ', '- ', '**a', '~~', '<', '\\', 'https://', '|', '#', '1. ', '[a](', '  '])(
  'takes %j repeated for 200,000 characters',
  (unit) => {
    expect(parseBlocks(unit.repeat(200_000 / unit.length)).length).toBeLessThan(3);
  },
);
