import { type Attachment, excessOf, IMAGE_TYPES, MAX_TEXT_BYTES } from '../state/writing/attachment.ts';
import type { Writing } from '../state/writing/writing.ts';
import { imageOf } from './image-of.ts';

/** Attaches files to what is being written, in their order. Says why one is not. */
export async function attach(writing: Writing, files: readonly File[]): Promise<void> {
  const problems: string[] = [];
  writing.problem.value = undefined;
  writing.reading.value += files.length;
  for (const file of files) {
    const read = await attachmentOf(file);
    const problem = typeof read === 'string' ? read : excessOf([...writing.attachments.value, read]);
    if (problem === undefined && typeof read !== 'string') writing.attach(read);
    else if (problem !== undefined && !problems.includes(problem)) problems.push(problem);
    writing.reading.value--;
  }
  if (problems.length > 0) writing.problem.value = problems.join(' ');
}

/** What becomes of a file, or why nothing does. */
async function attachmentOf(file: File): Promise<Attachment | string> {
  const { name, type, size } = file;
  try {
    if (IMAGE_TYPES.includes(type)) return (await imageOf(file)) ?? `${name} is too large an image.`;
    if (type.startsWith('image/') && type !== 'image/svg+xml')
      return `${name} is no PNG, JPEG, GIF or WebP: models do not take other images.`;
    if (size > MAX_TEXT_BYTES) return `${name} is larger than ${MAX_TEXT_BYTES / 1024} KB.`;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? noText(name) : { kind: 'text', name, text, bytes: size };
  } catch (error) {
    if (error instanceof TypeError) return noText(name);
    return `${name} cannot be read.`;
  }
}

const noText = (name: string) => `${name} is neither text nor an image.`;
