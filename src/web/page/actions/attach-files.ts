import { type Attachment, IMAGE_TYPES, limitExceeded, MAX_ATTACHED_TEXT_BYTES } from '../state/draft/attachment.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';
import { fitImage } from './fit-image.ts';

/** Attaches files to the draft in their order; `draft.problem` lists each one that could not be attached. */
export async function attachFiles(draft: MessageDraft, files: readonly File[]): Promise<void> {
  const problems: string[] = [];
  draft.problem.value = undefined;
  draft.pendingFiles.value += files.length;
  for (const file of files) {
    const attachment = await readAttachment(file);
    const problem =
      typeof attachment === 'string' ? attachment : limitExceeded([...draft.attachments.value, attachment]);
    if (problem === undefined && typeof attachment !== 'string') draft.attach(attachment);
    else if (problem !== undefined && !problems.includes(problem)) problems.push(problem);
    draft.pendingFiles.value--;
  }
  if (problems.length > 0) draft.problem.value = problems.join(' ');
}

/** Reads one file; returns a message for the user when it cannot be attached. */
async function readAttachment(file: File): Promise<Attachment | string> {
  const { name, type, size } = file;
  try {
    if (IMAGE_TYPES.includes(type)) return (await fitImage(file)) ?? `${name} is too large an image.`;
    if (type.startsWith('image/') && type !== 'image/svg+xml')
      return `${name} is no PNG, JPEG, GIF or WebP: models do not take other images.`;
    if (size > MAX_ATTACHED_TEXT_BYTES) return `${name} is larger than ${MAX_ATTACHED_TEXT_BYTES / 1024} KB.`;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? notTextProblem(name) : { kind: 'text', name, text, bytes: size };
  } catch (error) {
    if (error instanceof TypeError) return notTextProblem(name);
    return `${name} cannot be read.`;
  }
}

const notTextProblem = (name: string) => `${name} is neither text nor an image.`;
