import { imageSizeOf } from './image-header.ts';

const UNCOMPRESSED = 0;
const CHANNELS = 3;

/** Pixels of an image, row by row from the top. */
export interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly channels: typeof CHANNELS;
}

/** Pixels of an uncompressed bitmap of 24 or 32 bits; undefined for other kinds. */
export function bitmapPixels(bytes: Buffer): Pixels | undefined {
  const size = imageSizeOf(bytes, 'image/bmp');
  if (!size || bytes.length < 34 || bytes.readUInt32LE(30) !== UNCOMPRESSED) return undefined;
  const depth = bytes.readUInt16LE(28) / 8;
  const row = Math.ceil((size.width * depth) / 4) * 4;
  const start = bytes.readUInt32LE(10);
  const isComplete = size.width > 0 && size.height > 0 && start + row * size.height <= bytes.length;
  if ((depth !== 3 && depth !== 4) || !isComplete) return undefined;
  const isBottomUp = bytes.readInt32LE(22) > 0;
  const data = Buffer.alloc(size.width * size.height * CHANNELS);
  for (let y = 0, to = 0; y < size.height; y++) {
    let from = start + row * (isBottomUp ? size.height - 1 - y : y);
    for (let x = 0; x < size.width; x++, from += depth, to += CHANNELS) {
      data[to] = bytes[from + 2] ?? 0;
      data[to + 1] = bytes[from + 1] ?? 0;
      data[to + 2] = bytes[from] ?? 0;
    }
  }
  return { data, ...size, channels: CHANNELS };
}
