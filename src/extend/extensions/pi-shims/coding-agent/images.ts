import { open } from 'node:fs/promises';
import { fitImage } from '../../../../agent/tools/read/image.ts';
import { imageSizeOf, imageTypeOf } from '../../../../agent/tools/read/image-header.ts';

/** An image with its size before and after. */
export interface ResizedImage {
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly originalWidth: number;
  readonly originalHeight: number;
  readonly width: number;
  readonly height: number;
  readonly wasResized: boolean;
}

/** Limits of `resizeImage`. */
export interface ResizeOptions {
  readonly maxWidth?: number | undefined;
  readonly maxHeight?: number | undefined;
  readonly maxBytes?: number | undefined;
}

const HEADER_BYTES = 64 * 1024;

/** The type of an image file by its content; null if models do not accept it. */
export async function detectSupportedImageMimeTypeFromFile(filePath: string): Promise<string | null> {
  const file = await open(filePath, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const type = imageTypeOf(buffer.subarray(0, bytesRead));
    return type === undefined || type === 'image/bmp' ? null : type;
  } finally {
    await file.close();
  }
}

/**
 * Shrinks an image to the limits of providers; null if it is no image. Throws if sharp is not installed or for smaller
 * limits.
 */
export async function resizeImage(
  bytes: Uint8Array,
  mimeType: string,
  { maxWidth = Infinity, maxHeight = Infinity, maxBytes = Infinity }: ResizeOptions = {},
): Promise<ResizedImage | null> {
  const buffer = Buffer.from(bytes);
  const type = imageTypeOf(buffer);
  const original = type && imageSizeOf(buffer, type);
  if (!original) return null;
  const fitted = await fitImage(buffer, type);
  if (typeof fitted === 'string') throw new Error(`resizeImage is not possible: ${fitted}`);
  const fittedType = imageTypeOf(fitted.bytes);
  const { width, height } = (fittedType && imageSizeOf(fitted.bytes, fittedType)) ?? original;
  const data = fitted.bytes.toString('base64');
  if (width > maxWidth || height > maxHeight || data.length > maxBytes) {
    throw new Error('resizeImage is not available in tau for limits below those of providers');
  }
  const wasResized = fitted.bytes !== buffer;
  return {
    data,
    mimeType: wasResized ? fitted.mimeType : mimeType,
    originalWidth: original.width,
    originalHeight: original.height,
    width,
    height,
    wasResized,
  };
}

/** Throws unless the image is a PNG already: tau converts images only to shrink them. */
export async function convertToPng(base64: string, mimeType: string): Promise<{ data: string; mimeType: string }> {
  if (mimeType !== 'image/png') throw new Error('convertToPng is not available in tau');
  return { data: base64, mimeType };
}

/** How coordinates in a resized image map to the original. */
export function formatDimensionNote(image: ResizedImage): string | undefined {
  if (!image.wasResized) return undefined;
  const { originalWidth, originalHeight, width, height } = image;
  const factor = (originalWidth / width).toFixed(2);
  return `[Image resized from ${originalWidth}x${originalHeight} to ${width}x${height}. Coordinates times ${factor} are those of the original.]`;
}
