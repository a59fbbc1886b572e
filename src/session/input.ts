import { unlessAborted } from '../agent/unless-aborted.ts';
import { Refusal } from '../protocol/errors.ts';
import type { ImageContent, ImageInput, QueuedItem, UserMessage } from '../protocol/generated/vocabulary.ts';
import type { Input, RawInput, SessionHooks } from './hooks.ts';

/** Where a message comes from, how it is to join a run that is active, and what calls it off before it has begun. */
export interface Manner {
  readonly source?: RawInput['source'] | undefined;
  /** False: words that stand for others are taken as they are. */
  readonly expand?: boolean | undefined;
  readonly streamingBehavior?: QueuedItem['kind'] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What was said, after everybody who may change it has seen it. Nobody to see it: nothing is awaited. */
export function understood(raw: Input, how: Manner, hooks: SessionHooks): Input | Promise<Input | 'handled'> {
  const isSeen = hooks.input || (how.expand !== false && hooks.expand);
  return isSeen ? sifted(raw, how, hooks) : raw;
}

async function sifted(
  raw: Input,
  { source = 'rpc', expand: isExpanded = true, streamingBehavior, signal = NEVER }: Manner,
  { input: sift, expand }: SessionHooks,
): Promise<Input | 'handled'> {
  const seen = sift && (await unlessAborted(sift({ ...raw, source, streamingBehavior }, signal), signal));
  if (seen === 'handled') return seen;
  const expanded = isExpanded && expand && (await unlessAborted(expand(seen ?? raw, signal), signal));
  return expanded || seen || raw;
}

/** For what cannot be aborted. */
export const NEVER: AbortSignal = new AbortController().signal;

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
