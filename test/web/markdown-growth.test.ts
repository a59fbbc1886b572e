import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ParsedBlock } from '../../src/web/markdown/block/block.ts';
import { MarkdownReader, parseBlocks } from '../../src/web/markdown/block/markdown-reader.ts';
import { parseInline } from '../../src/web/markdown/inline/inline-reader.ts';
import { countExecutions } from '../support/execution-counts.ts';
import { inlineHtml, markdownHtml } from '../support/page/markdown-html.ts';

/** Texts made of markdown syntax. */
const markdown = fc
  .array(
    fc.constantFrom(
      ...['a', 'b c', ' ', '  ', '\n', '\n\n', '\r\n', '\t', '    ', '- ', '1. ', '2) ', '> ', '# ', '```', '~~~', '`'],
      ...['|', '|-|-|\n', '---', '===', '*', '**', '_', '~~', '[', ']', '](', ')', '[a]', '[a]: https://x.example/\n'],
      ...[
        'https://x.example',
        '<br>',
        '<!--',
        '-->',
        '<details>\n',
        '</details>\n',
        '&amp;',
        '\\',
        '- [x] ',
        '![',
        'é😀',
      ],
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

it('text received in pieces gives the same blocks as the whole text at once', () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.nat(200)), (text, cuts) => {
      const reader = new MarkdownReader();
      for (const cut of cuts.sort((one, other) => one - other)) reader.read(text.slice(0, cut), { isStreaming: true });
      expect(reader.read(text).blocks).toEqual(parseBlocks(text));
      expect(markdownHtml(text, reader)).toBe(markdownHtml(text));
      for (const block of reader.read(text).blocks) expect(block).not.toHaveProperty('isOpen');
    }),
    { numRuns: 2000 },
  );
});

it('a text that is replaced by another one is parsed from its start', () => {
  const reader = new MarkdownReader();
  reader.read('# One\n\ntext\n');
  expect(reader.read('Other\n\ntext\n').blocks).toEqual(parseBlocks('Other\n\ntext\n'));
});

it('complete blocks stay the same objects while a text grows', () => {
  const text =
    '# Title\n\nA paragraph.\n\n- one\n- two\n  - inner\n- three\n\n| a |\n|---|\n| 1 |\n| 2 |\n| 3 |\n\nEnd';
  const reader = new MarkdownReader();
  const seen = new Map<number, ParsedBlock>();
  for (let end = 1; end <= text.length; end++) {
    const { blocks } = reader.read(text.slice(0, end), { isStreaming: true });
    for (const [at, block] of blocks.slice(0, -1).entries()) {
      if (!seen.has(at)) seen.set(at, block);
      expect(block).toBe(seen.get(at));
    }
  }
  expect(seen.size).toBe(4);
});

it('complete list items and table rows stay the same objects while a text grows', () => {
  const reader = new MarkdownReader();
  const [one, two, three, four] = ['- one\n- two\n- th', 'ree\n- four\n\n|a|\n|-|\n|1|\n|2', '|\n|3|\n|4', ''].map(
    (_, at, parts) => reader.read(parts.slice(0, at + 1).join(''), { isStreaming: true }).blocks,
  );
  const itemsOf = (blocks: readonly ParsedBlock[] = []) =>
    blocks.flatMap((block) => ('items' in block ? block.items : []));
  const rowsOf = (blocks: readonly ParsedBlock[] = []) =>
    blocks.flatMap((block) => ('rows' in block ? block.rows : []));
  expect(itemsOf(two)[0]).toBe(itemsOf(one)[0]);
  expect(rowsOf(three)[0]).toBe(rowsOf(two)[0]);
  expect(rowsOf(four).slice(0, 3)).toEqual([['1'], ['2'], ['3']]);
});

/** The successive renderings of a text that arrives character by character, without repeats. */
function renderingsOf(text: string): string[] {
  const reader = new MarkdownReader();
  const shown: string[] = [];
  for (let end = 1; end <= text.length; end++) {
    const { blocks } = reader.read(text.slice(0, end), { isStreaming: true });
    const now = blocks.map(outline).join('');
    if (now !== shown.at(-1)) shown.push(now);
  }
  return shown;
}

const outline = (block: ParsedBlock): string => {
  if ('items' in block) return `(${block.items.map(({ blocks }) => blocks.map(outline).join('')).join(',')})`;
  if ('rows' in block) return `{${[block.head, ...block.rows].map((cells) => cells.join('|')).join('/')}}`;
  if (block.type === 'code') return `<${block.text}>`;
  if (!('text' in block)) return block.type;
  const inline = inlineHtml(parseInline(block.text, { isOpen: 'isOpen' in block && block.isOpen }));
  return block.type === 'heading' ? `#${inline}` : inline;
};

it.each([
  ['**ab** c', ['', '<strong>a</strong>', '<strong>ab</strong>', '<strong>ab</strong> c']],
  ['`ab`', ['', '<code>a</code>', '<code>ab</code>']],
  ['[a](https://x.example)', ['', 'a', '<a https://x.example/>a</a>']],
  ['# a', ['', '#a']],
  ['```\na\n```', ['', '<>', '<a>']],
  ['a\n---\nb', ['a', '#a', '#ab']],
  ['- a\n- b', ['', '(a)', '(a,b)']],
  ['- [x] a', ['', '(a)']],
  ['|a|\n|-|\n|b|', ['', '{a}', '{a/b}']],
  ['1. a', ['', '(a)']],
  ['a &amp; b', ['a', 'a ', 'a &amp;', 'a &amp; b']],
])('no mark appears and disappears again while %j arrives', (text, expected) => {
  expect(renderingsOf(text)).toEqual(expected);
});

const units = [
  ...[
    '*',
    '[',
    '`',
    '_a',
    '![](',
    '> ',
    '- ',
    '**a',
    '~~',
    '<',
    '\\',
    'https://',
    '|',
    '#',
    '1. ',
    '[a](',
    '  ',
    '\t',
    '<!--',
  ],
  ...[
    '*a _b ',
    '**a *',
    '![a](b',
    '[a][',
    '&#',
    '&amp',
    '<details>\n',
    '- a\n\n',
    '> a\n',
    '|a|\n|-|\n',
    '[a]: b\n',
    '[a]: b\n\n',
  ],
  ...[
    'a\n---\n',
    '```\n',
    '<a@',
    '](a "',
    '[[a](https://x.example/)',
    '](<',
    '*a*_b_~~c~~',
    '`a``b',
    '(www.',
    '*a `',
    '<b ',
    '\n',
    '***a** ',
  ],
];

it.each(units)('the work for repeated %j grows linearly with the length', async (unit) => {
  const work = (length: number) =>
    countExecutions('/src/web/markdown/', () => markdownHtml(unit.repeat(length / unit.length)));
  await work(500);
  const [some, more] = [await work(1000), await work(8000)];
  expect(some).toBeGreaterThan(10);
  expect(more / some).toBeLessThan(12);
});

/** Cells that a browser lays out, missing ones included. */
const countCells = (blocks: readonly ParsedBlock[]): number =>
  blocks.reduce((sum, block) => sum + (block.type === 'table' ? block.head.length * (block.rows.length + 1) : 0), 0);

it('a table has at most 100 cells per character of its text', () => {
  const size = fc.integer({ min: 1, max: 1500 });
  fc.assert(
    fc.property(size, size, fc.array(fc.nat(10_000)), (columns, rows, cuts) => {
      const text = `${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n${'|x\n'.repeat(rows)}`;
      const reader = new MarkdownReader();
      for (const cut of [...cuts.sort((one, other) => one - other), text.length]) {
        const { blocks } = reader.read(text.slice(0, cut), { isStreaming: cut < text.length });
        expect(countCells(blocks)).toBeLessThanOrEqual(100 * cut);
      }
    }),
  );
});

it('deeply nested pictures are parsed', () => {
  const [opening, closing] = ['!['.repeat(20_000), '](x)<br>'.repeat(20_000)];
  expect(markdownHtml(`${opening}a${closing}\n\nThe end`)).toMatch(/The end/);
});

/** Prefixes and suffixes of a run that never completes a construct. Backtracking patterns would not finish. */
const befores = [
  ...['', 'a', '[a]:', '[a]: b', '[a]: <b>', '[a]: b "', '<details>', '<details><summary>', '<summary>', '- ', '1. '],
  ...['a|b\n-', 'a|b\n|-', 'a\n', '- -', '# a', '~~~', '```', '<!--', '[a](', '[a](b', '[a](b "', '![', '<a@', 'www.'],
];
const runs = [' ', '\t', '\r', '\u2028', '-', '~', '#', '|', ':', '\\', '"', 'a'];
const afters = ['', 'x', '|x', '\rx', '\n\nx'];

const LENGTH = process.env['SOAK'] ? 200_000 : 60_000;

it.each(befores)('any long run of characters after %j is parsed', (before) => {
  const texts = runs.flatMap((run) => afters.map((after) => before + run.repeat(LENGTH / 2) + after));
  for (const text of texts) expect(markdownHtml(text).length).toBeLessThan(1_000_000);
});

it.each(units)('long repetitions of %j are parsed, also while they arrive', (unit) => {
  const text = unit.repeat(LENGTH / unit.length);
  const reader = new MarkdownReader();
  for (let end = LENGTH / 10; end <= text.length; end += LENGTH / 10)
    reader.read(text.slice(0, end), { isStreaming: true });
  expect(markdownHtml(`${text}\n\nThe end`)).toMatch(/The end/);
});
