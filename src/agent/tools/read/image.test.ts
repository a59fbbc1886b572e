import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { compile, temporaryFolder } from '../../../system/testing/script.ts';
import type { ToolOutput } from '../../tool.ts';
import { MAX_IMAGE_BYTES } from './image.ts';
import { readTool } from './read.ts';

const cwd = temporaryFolder();
let files = 0;

/** Writes a file without a telling extension and returns its name. */
function file(content: Buffer): string {
  const name = `file-${++files}.txt`;
  writeFileSync(join(cwd, name), content);
  return name;
}

const read = (path: string): Promise<ToolOutput> =>
  readTool(cwd).execute({ toolCallId: 'call', args: { path }, signal: new AbortController().signal, update: () => {} });

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 60 } } });

/** Incompressible pixels. */
function noise(width: number, height: number) {
  let state = 1;
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < data.length; at++) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    data[at] = state >> 16;
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** A bitmap of one colour; a negative height stores rows from the top. */
function bitmap(width: number, height: number, depth = 24): Buffer {
  const row = Math.ceil((width * depth) / 32) * 4;
  const bytes = Buffer.alloc(54 + row * Math.abs(height), Buffer.from([60, 30, 200]));
  bytes.fill(0, 0, 54);
  bytes.write('BM');
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(depth, 28);
  return bytes;
}

function imageOf({ content: [text, image] }: ToolOutput) {
  if (text?.type !== 'text' || image?.type !== 'image') throw new Error(`No image: ${JSON.stringify(text)}`);
  return { text: text.text, mimeType: image.mimeType, bytes: Buffer.from(image.data, 'base64'), data: image.data };
}

describe('an image within the limits', () => {
  it.each([
    ['image/png', plain(20, 10).png()],
    ['image/jpeg', plain(2000, 2000).jpeg()],
    ['image/jpeg', plain(20, 10).jpeg({ progressive: true }).withMetadata({ orientation: 6 })],
    ['image/gif', plain(20, 10).gif()],
    ['image/webp', plain(20, 10).webp()],
    ['image/webp', plain(20, 10).webp({ lossless: true })],
    ['image/webp', plain(20, 10).ensureAlpha(0.5).webp()],
  ])('is returned unchanged, whatever its name: %s', async (mimeType, image) => {
    const bytes = await image.toBuffer();

    expect(await read(file(bytes))).toEqual({
      content: [
        { type: 'text', text: `Read image file [${mimeType}]` },
        { type: 'image', data: bytes.toString('base64'), mimeType },
      ],
    });
  });
});

describe('an image that is too large', () => {
  it.each([
    ['png', plain(4000, 1000).png(), '4000x1000, displayed at 2000x500. Multiply coordinates by 2.00'],
    ['jpeg', plain(100, 2500).jpeg(), '100x2500, displayed at 80x2000. Multiply coordinates by 1.25'],
    ['webp', plain(2001, 10).webp(), '2001x10, displayed at 2000x10. Multiply coordinates by 1.00'],
    [
      'webp, lossless',
      plain(2500, 10).webp({ lossless: true }),
      '2500x10, displayed at 2000x8. Multiply coordinates by 1.25',
    ],
    ['thin', plain(1, 3000).png(), '1x3000, displayed at 1x2000. Multiply coordinates by 1.50'],
    ['gif', plain(3000, 3000).gif(), '3000x3000, displayed at 2000x2000. Multiply coordinates by 1.50'],
    [
      'jpeg on its side',
      plain(3000, 1500).jpeg().withMetadata({ orientation: 6 }),
      '1500x3000, displayed at 1000x2000. Multiply coordinates by 1.50',
    ],
  ])('is shrunk and gets a note: %s', async (_kind, image, note) => {
    const { text, mimeType, bytes } = imageOf(await read(file(await image.toBuffer())));

    const { format, width, height } = await sharp(bytes).metadata();
    expect(text).toBe(`Read image file [${mimeType}]\n[Image: original ${note} to map to original image.]`);
    expect([`image/${format}`, note.includes(`displayed at ${width}x${height}.`)]).toEqual([mimeType, true]);
  });

  it('only in bytes is compressed and keeps its dimensions', async () => {
    const { text, data, bytes } = imageOf(await read(file(await noise(2000, 2000).png().toBuffer())));

    expect(text).toBe('Read image file [image/jpeg]');
    expect(data.length).toBeLessThanOrEqual(MAX_IMAGE_BYTES);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 2000, height: 2000 });
  });
});

describe('a bitmap', () => {
  it.each([
    ['from the bottom', bitmap(3, 2)],
    ['from the top', bitmap(3, -2)],
    ['with four bytes a pixel', bitmap(3, 2, 32)],
  ])('becomes a PNG: %s', async (_kind, bytes) => {
    const { text, bytes: png } = imageOf(await read(file(bytes)));

    expect(text).toBe('Read image file [image/png]');
    expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 3, height: 2 });
  });

  it('keeps its pixels in order', async () => {
    const bytes = bitmap(2, 2);
    bytes.set([1, 2, 3, 4, 5, 6], 54);
    bytes.set([7, 8, 9, 10, 11, 12], 62);

    const { bytes: png } = imageOf(await read(file(bytes)));

    expect([...(await sharp(png).raw().toBuffer())]).toEqual([9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4]);
  });

  it.each([
    ['of few colours', bitmap(3, 2, 8)],
    ['that ends too early', bitmap(3, 2).subarray(0, 60)],
  ])('of an unsupported kind is not shown: %s', async (_kind, bytes) => {
    expect(await read(file(bytes))).toEqual({
      content: [
        {
          type: 'text',
          text: 'Read image file [image/bmp]\n[Image not shown: it is a bitmap of a kind that cannot be converted.]',
        },
      ],
    });
  });
});

describe('an incomplete image', () => {
  it.each([
    ['ends before its size', (png: Buffer) => png.subarray(0, 18)],
    ['is too large and ends early', (png: Buffer) => png.subarray(0, 40)],
  ])('is not shown if it %s', async (_what, cut) => {
    const path = file(cut(await plain(3000, 10).png().toBuffer()));

    expect(await read(path)).toEqual({
      content: [{ type: 'text', text: 'Read image file [image/png]\n[Image not shown: it cannot be decoded.]' }],
    });
  });

  it('is not confused with text that starts like one', async () => {
    expect(await read(file(Buffer.from('BM is short for bitmap, and this is a text')))).toMatchObject({
      content: [{ text: 'BM is short for bitmap, and this is a text' }],
    });
  });
});

describe('without sharp', () => {
  const script = () =>
    compile(
      cwd,
      `import { readTool } from '../agent/tools/read/read.ts';
       const signal = new AbortController().signal;
       const { content } = await readTool('.').execute({ toolCallId: '1', args: { path: process.argv[2] }, signal, update: () => {} });
       console.log(JSON.stringify(content.map((block) => block.text ?? block.mimeType)));`,
    );

  it.each([
    ['that fits comes as it is', plain(20, 10).png().toBuffer(), ['Read image file [image/png]', 'image/png']],
    [
      'that is too large is not shown',
      plain(2001, 10).gif().toBuffer(),
      [
        'Read image file [image/gif]\n[Image not shown: it is 2001x10, SIZE, and sharp, which could convert it, is not installed.]',
      ],
    ],
    [
      'that is a bitmap is not shown',
      Promise.resolve(bitmap(3, 2)),
      [
        'Read image file [image/bmp]\n[Image not shown: it is a bitmap, and sharp, which could convert it, is not installed.]',
      ],
    ],
  ])('an image %s', async (_what, bytes, blocks) => {
    const path = file(await bytes);

    const output = execFileSync(process.execPath, [script(), path], { cwd, encoding: 'utf8' });

    expect(JSON.parse(output.replace(/[\d.]+K?B,/, 'SIZE,'))).toEqual(blocks);
  });
});
