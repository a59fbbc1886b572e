import type { ImageContent, UserMessage } from '../../../../protocol/generated/vocabulary.ts';
import { blocksOf, textOf } from '../../../fields.ts';
import { IMAGE_TYPES, type ImageAttachment } from './attachment.ts';

/** Returns the images of a message in formats that models accept. */
export const imagesOf = ({ content }: UserMessage): readonly ImageContent[] =>
  blocksOf(content).flatMap(({ type, mimeType, data }) => {
    const image = { type: 'image' as const, mimeType: textOf(mimeType), data: textOf(data) };
    return type === 'image' && IMAGE_TYPES.includes(image.mimeType) ? [image] : [];
  });

/** Turns an image of a message into an attachment; images of messages have no names. */
export const asAttachment = ({ mimeType, data }: ImageContent, at: number): ImageAttachment => ({
  kind: 'image',
  name: `Image ${at + 1}`,
  mimeType,
  data,
});
