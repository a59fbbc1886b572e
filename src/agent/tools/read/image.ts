import type { FileHandle } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { formatBytes } from '../truncate.ts';
import { type ImageSize, type ImageType, imageSizeOf, imageTypeOf } from './image-header.ts';

// Providers reject larger images or shrink them silently.
const MAX_IMAGE_SIDE = 2000;

/** Limit of an image as sent, in base64. */
export const MAX_IMAGE_BYTES = 4.5 * 1024 * 1024;

// At this quality even noise of the maximum size stays below the limit, at 4.0 MB.
const JPEG_QUALITY = 80;

/** An image within the limits of providers. */
export interface FittedImage {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** Text that the model needs to interpret the image. */
  readonly note?: string;
}

/** Returns an image within the limits, shrunk if necessary, or the reason why it cannot be sent. */
export async function fitImage(bytes: Buffer, type: ImageType): Promise<FittedImage | string> {
  const size = imageSizeOf(bytes, type);
  if (!size || size.width === 0 || size.height === 0) return 'it cannot be decoded';
  // No provider accepts bitmaps.
  if (type !== 'image/bmp' && isWithinLimits(bytes, size)) return { bytes, mimeType: type };
  const description = type === 'image/bmp' ? 'a bitmap' : `${size.width}x${size.height}, ${formatBytes(bytes.length)}`;
  const source = await openImage(bytes, type);
  if (source === 'no library') return `it is ${description}, and sharp, which could convert it, is not installed`;
  if (source === 'unknown') return 'it is a bitmap of a kind that cannot be converted';
  return shrinkImage(source).catch(() => 'it cannot be decoded');
}

const isWithinLimits = (bytes: Buffer, { width, height }: ImageSize) =>
  Math.ceil(bytes.length / 3) * 4 <= MAX_IMAGE_BYTES && width <= MAX_IMAGE_SIDE && height <= MAX_IMAGE_SIDE;

async function openImage(bytes: Buffer, type: ImageType): Promise<Sharp | 'no library' | 'unknown'> {
  const library = await import('sharp').catch(() => undefined);
  if (!library) return 'no library';
  if (type !== 'image/bmp') return library.default(bytes).autoOrient();
  const pixels = bitmapPixels(bytes);
  return pixels ? library.default(pixels.data, { raw: pixels }) : 'unknown';
}

/** Encodes as PNG or JPEG, whichever is smaller. */
async function shrinkImage(source: Sharp): Promise<FittedImage> {
  const { autoOrient: original } = await source.metadata();
  const resized = source.resize(MAX_IMAGE_SIDE, MAX_IMAGE_SIDE, { fit: 'inside', withoutEnlargement: true });
  const png = await resized.clone().png().toBuffer({ resolveWithObject: true });
  const opaque = resized.clone().flatten({ background: 'white' });
  const jpeg = await opaque.jpeg({ quality: JPEG_QUALITY }).toBuffer({ resolveWithObject: true });
  const { data, info } = png.data.length <= jpeg.data.length ? png : jpeg;
  return { bytes: data, mimeType: `image/${info.format}`, ...resizeNote(original, info) };
}

function resizeNote(original: ImageSize, { width, height }: ImageSize): { note?: string } {
  if (width === original.width && height === original.height) return {};
  const factor = (Math.max(original.width, original.height) / Math.max(width, height)).toFixed(2);
  const sizes = `original ${original.width}x${original.height}, displayed at ${width}x${height}`;
  return { note: `[Image: ${sizes}. Multiply coordinates by ${factor} to map to original image.]` };
}

// A larger image is not read: it would be held in memory as a whole.
const MAX_IMAGE_FILE_BYTES = 64 * 1024 * 1024;

/** Reads an image for the model, or returns a note why it cannot be shown. */
export async function readImage(file: FileHandle, signal: AbortSignal): Promise<ToolOutput> {
  const { size } = await file.stat();
  if (size > MAX_IMAGE_FILE_BYTES) {
    return textOutput(
      `[Image of ${formatBytes(size)} not shown: it is larger than ${formatBytes(MAX_IMAGE_FILE_BYTES)}.]`,
    );
  }
  const bytes = await file.readFile({ signal });
  const type = imageTypeOf(bytes);
  const image = type ? await fitImage(bytes, type) : 'it cannot be decoded';
  throwIfAborted(signal);
  if (typeof image === 'string') return textOutput(`Read image file [${type}]\n[Image not shown: ${image}.]`);
  const { content } = textOutput(
    [`Read image file [${image.mimeType}]`, ...(image.note ? [image.note] : [])].join('\n'),
  );
  return { content: [...content, { type: 'image', data: image.bytes.toString('base64'), mimeType: image.mimeType }] };
}

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
