import { Refusal } from '../protocol/errors.ts';
import type { ImageContent, ImageInput, UserMessage } from '../protocol/generated/vocabulary.ts';
import type { Input } from './hooks.ts';

/** What a client sent, in the one form that is used from here on. */
export function inputOf(text: string, images: readonly ImageInput[] = []): Input {
  if (text === '' && images.length === 0)
    throw new Refusal('invalid_params', 'Invalid parameters: message must not be empty');
  return { text, images: images.map(checkedImage) };
}

/** How much of an image is looked at to tell whether it can be one. */
const GLANCE_CHARACTERS = 4096;

function checkedImage(input: ImageInput, index: number): ImageContent {
  const image = plainImage(input);
  const problem = imageProblem(image);
  if (problem) throw new Refusal('invalid_params', `Invalid parameters: images[${index}] ${problem}`);
  return image;
}

/** What keeps this from being an image, if a glance can tell. */
export function imageProblem({ mimeType, data }: ImageContent): string | undefined {
  if (!mimeType.startsWith('image/')) return `must be an image, not ${mimeType}`;
  return /^[\w+/=\s-]+$/.test(data.slice(0, GLANCE_CHARACTERS)) ? undefined : 'must have data in base64';
}

export const userMessage = ({ text, images }: Input): UserMessage => ({
  role: 'user',
  content: [{ type: 'text', text }, ...images],
  timestamp: Date.now(),
});

function plainImage(image: ImageInput): ImageContent {
  if (!('source' in image)) return { type: 'image', data: image.data, mimeType: image.mimeType };
  const { data, mediaType, media_type, mimeType } = image.source;
  return { type: 'image', data, mimeType: mediaType ?? media_type ?? mimeType ?? 'image/png' };
}
