import type { FileHandle } from 'node:fs/promises';
import { type ToolOutput, textOutput } from '../tool.ts';
import { throwIfAborted } from '../unless-aborted.ts';
import { fitImage } from './image-fit.ts';
import { imageTypeOf } from './image-header.ts';
import { formatBytes } from './truncate.ts';

// A larger image is not read: it would be held in memory as a whole.
const MAX_IMAGE_FILE_BYTES = 64 * 1024 * 1024;

/** Reads an image for the model, or returns a note why it cannot be shown. */
export async function readImage(file: FileHandle, signal: AbortSignal): Promise<ToolOutput> {
  const { size } = await file.stat();
  if (size > MAX_IMAGE_FILE_BYTES) {
    return textOutput(`[Image of ${formatBytes(size)} not shown: it is larger than ${formatBytes(MAX_IMAGE_FILE_BYTES)}.]`);
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
