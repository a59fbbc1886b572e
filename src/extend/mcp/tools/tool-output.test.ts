import { expect, it } from 'vitest';
import { ToolError } from '../../../agent/tool.ts';
import { MAX_RESULT_IMAGES, MAX_STRUCTURED_CHARACTERS, parseToolResult } from './tool-output.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const text = (value: string) => ({ type: 'text', text: value });
const shown = async (...content: unknown[]) => (await parseToolResult({ content })).content;

it.each([
  ['text', text('hello'), text('hello')],
  [
    'an image',
    { type: 'image', data: PIXEL, mimeType: 'image/jpeg' },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
  ],
  [
    'no image',
    { type: 'image', data: 'bm8=', mimeType: 'image/png' },
    text('[Image not shown: it cannot be decoded.]'),
  ],
  [
    'sound',
    { type: 'audio', data: 'x'.repeat(2000), mimeType: 'audio/wav' },
    text('[Audio left out: audio/wav, 1.5KB]'),
  ],
  ['a file', { type: 'resource', resource: { uri: 'file:///a', text: 'words' } }, text('[Resource file:///a]\nwords')],
  [
    'a picture file',
    { type: 'resource', resource: { uri: 'file:///a', blob: PIXEL, mimeType: 'image/png' } },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
  ],
  [
    'a file of bytes',
    { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA', mimeType: 'application/zip' } },
    text('[Resource file:///a left out: application/zip, 3B]'),
  ],
  [
    'a link',
    { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'A file' },
    text('[Resource file:///a: a, A file]'),
  ],
  ['the unknown', { type: 'video' }, text('[Content of an unknown type left out: video]')],
  ['nonsense', 7, text('[Content of an unknown type left out: none]')],
])('converts %s', async (_what, content, block) => {
  expect(await shown(content)).toEqual([block]);
});

it.each([[{}], [{ content: [] }], [{ content: 'x' }], [undefined]])('%j becomes "(no output)"', async (result) => {
  expect(await parseToolResult(result)).toEqual({ content: [text('(no output)')] });
});

it('keeps structured content as details, and shows it if there is no text', async () => {
  const structuredContent = { a: 1 };

  expect(await parseToolResult({ content: [text('one')], structuredContent })).toEqual({
    content: [text('one')],
    details: { structuredContent },
  });
  expect(await parseToolResult({ structuredContent })).toEqual({
    content: [text('{\n  "a": 1\n}')],
    details: { structuredContent },
  });
});

it('drops structured content that is too large or too deep', async () => {
  let deep: unknown = {};
  for (let depth = 0; depth < 100_000; depth++) deep = { deep };
  const large = { a: 'x'.repeat(MAX_STRUCTURED_CHARACTERS) };

  for (const structuredContent of [deep, large]) {
    expect(await parseToolResult({ content: [text('one')], structuredContent })).toEqual({ content: [text('one')] });
  }
});

it('an error result rejects with its content', async () => {
  const failure = parseToolResult({ content: [text('no')], isError: true });

  await expect(failure).rejects.toBeInstanceOf(ToolError);
  await expect(failure).rejects.toMatchObject({ output: { content: [text('no')] } });
});

it('truncates long text to its head and keeps all images', async () => {
  const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
  const lines = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join('\n');

  const many = await parseToolResult({ content: [text('first'), image, text(lines)] });
  const [one] = await shown(text('ä'.repeat(100_000)));

  expect(many.content).toEqual([
    { type: 'text', text: expect.stringMatching(/^first\nline 0\n[\s\S]*\nline 1998\n\n\[Output cut: /) },
    image,
  ]);
  expect(many.details).toMatchObject({ truncation: { truncated: true, totalLines: 3001, outputLines: 2000 } });
  expect(one).toEqual(text(`${'ä'.repeat(25_600)}\n\n[Output cut: these are the first 50.0KB of 195.3KB.]`));
});

it('limits the number of images', async () => {
  const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };

  const blocks = await shown(...Array.from({ length: MAX_RESULT_IMAGES + 1 }, () => image));

  expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(MAX_RESULT_IMAGES);
  expect(blocks.at(-1)).toEqual(text('[Image left out: there are too many.]'));
});
