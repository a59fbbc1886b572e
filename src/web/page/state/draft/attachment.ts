import type { ImageContent, UserMessage } from '../../../../protocol/generated/vocabulary.ts';
import { asText, contentBlocks } from '../../../untyped.ts';

/** A file that is sent with a message. */
export type Attachment = ImageAttachment | TextAttachment;

export interface ImageAttachment {
  readonly kind: 'image';
  readonly name: string;
  readonly mimeType: string;
  readonly data: string;
}

export interface TextAttachment {
  readonly kind: 'text';
  readonly name: string;
  readonly text: string;
  readonly bytes: number;
}

/** Image formats that models accept. */
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export const MAX_ATTACHED_IMAGES = 12;

/** Base64 characters per message: its frame stays well below the limit of the server. */
export const MAX_ATTACHED_IMAGE_CHARACTERS = 16 * 1024 * 1024;

export const MAX_ATTACHED_TEXT_BYTES = 256 * 1024;

export const MAX_ATTACHED_TEXTS = 12;

/** Returns the limit that these attachments exceed, as a message for the user. */
export function limitExceeded(attachments: readonly Attachment[]): string | undefined {
  const images = attachments.filter((one) => one.kind === 'image');
  if (attachments.length - images.length > MAX_ATTACHED_TEXTS)
    return `At most ${MAX_ATTACHED_TEXTS} files go with a message.`;
  if (images.length > MAX_ATTACHED_IMAGES) return `At most ${MAX_ATTACHED_IMAGES} images go with a message.`;
  const characters = images.reduce((sum, { data }) => sum + data.length, 0);
  return characters > MAX_ATTACHED_IMAGE_CHARACTERS ? 'These images are too large to go with one message.' : undefined;
}

/** Returns the images of a message in formats that models accept. */
export const imagesOf = ({ content }: UserMessage): readonly ImageContent[] =>
  contentBlocks(content).flatMap(({ type, mimeType, data }) => {
    const image = { type: 'image' as const, mimeType: asText(mimeType), data: asText(data) };
    return type === 'image' && IMAGE_TYPES.includes(image.mimeType) ? [image] : [];
  });

/** Turns an image of a message into an attachment; images of messages have no names. */
export const asAttachment = ({ mimeType, data }: ImageContent, at: number): ImageAttachment => ({
  kind: 'image',
  name: `Image ${at + 1}`,
  mimeType,
  data,
});
