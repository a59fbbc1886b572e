import type { ImageAttachment } from '../state/draft/attachment.ts';

// Pixels of the longer side; larger images are scaled down.
const MAX_ATTACHED_IMAGE_SIDE = 2000;

const MAX_ATTACHED_IMAGE_BYTES = 4 * 1024 * 1024;

/** Reads an image file and scales it to the size limits; returns undefined when it cannot be made small enough. */
export async function fitImage(file: File): Promise<ImageAttachment | undefined> {
  const bitmap = await createImageBitmap(file);
  const isSmall =
    Math.max(bitmap.width, bitmap.height) <= MAX_ATTACHED_IMAGE_SIDE && file.size <= MAX_ATTACHED_IMAGE_BYTES;
  const blob = isSmall ? file : await scaleDown(bitmap, file.type);
  bitmap.close();
  if (!blob) return undefined;
  return { kind: 'image', name: file.name, mimeType: blob.type, data: await base64Of(blob) };
}

/** Falls back to JPEG when the own format stays over the limit. */
async function scaleDown(bitmap: ImageBitmap, type: string): Promise<Blob | undefined> {
  const scale = Math.min(1, MAX_ATTACHED_IMAGE_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  for (const kind of [type, 'image/jpeg']) {
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, kind, 0.85));
    if (blob && blob.size <= MAX_ATTACHED_IMAGE_BYTES) return blob;
  }
  return undefined;
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('It cannot be read', { cause: reader.error }));
    reader.readAsDataURL(blob);
  });
}
