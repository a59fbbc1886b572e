import type { Sharp } from 'sharp';
import { bitmapPixels } from './bitmap.ts';
import { type ImageSize, type ImageType, imageSizeOf } from './image-header.ts';
import { formatBytes } from './truncate.ts';

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
