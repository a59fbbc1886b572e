/** Something that goes along with a message. */
export type Attachment = ImageAttachment | TextAttachment;

export interface ImageAttachment {
  readonly kind: 'image';
  readonly name: string;
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
}

export interface TextAttachment {
  readonly kind: 'text';
  readonly name: string;
  readonly text: string;
  readonly bytes: number;
}

/** The formats in which models take images. */
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Images with one message. */
export const MAX_ATTACHED_IMAGES = 12;

/** Characters of base64 with one message: what carries it stays well below what the server takes. */
export const MAX_ATTACHED_IMAGE_CHARACTERS = 16 * 1024 * 1024;

/** Bytes of a text file. */
export const MAX_ATTACHED_TEXT_BYTES = 256 * 1024;

/** Text files with one message. */
export const MAX_ATTACHED_TEXTS = 12;

/** What keeps these from going along with one message, if anything does. */
export function limitExceeded(attachments: readonly Attachment[]): string | undefined {
  const images = attachments.filter((one) => one.kind === 'image');
  if (attachments.length - images.length > MAX_ATTACHED_TEXTS) return `At most ${MAX_ATTACHED_TEXTS} files go with a message.`;
  if (images.length > MAX_ATTACHED_IMAGES) return `At most ${MAX_ATTACHED_IMAGES} images go with a message.`;
  const characters = images.reduce((sum, { data }) => sum + data.length, 0);
  return characters > MAX_ATTACHED_IMAGE_CHARACTERS ? 'These images are too large to go with one message.' : undefined;
}
