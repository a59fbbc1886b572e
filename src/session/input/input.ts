import { unlessAborted } from '../../agent/unless-aborted.ts';
import { Refusal } from '../../protocol/errors.ts';
import type {
  ContentBlock,
  ImageContent,
  ImageInput,
  QueuedItem,
  UserMessage,
} from '../../protocol/generated/vocabulary.ts';
import type { RawInput, SessionHooks, UserInput } from '../hooks.ts';

/** Where a message comes from, how it joins an active run, and its abort signal. */
export interface InputOptions {
  readonly source?: RawInput['source'] | undefined;
  /** False: skill and template commands are not expanded. */
  readonly expand?: boolean | undefined;
  readonly streamingBehavior?: QueuedItem['kind'] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Passes input through the `input` and `expand` hooks; without hooks it returns synchronously. */
export function applyInputHooks(
  raw: UserInput,
  options: InputOptions,
  hooks: SessionHooks,
): UserInput | Promise<UserInput | 'handled'> {
  const hasHooks = hooks.input || (options.expand !== false && hooks.expand);
  return hasHooks ? runInputHooks(raw, options, hooks) : raw;
}

async function runInputHooks(
  raw: UserInput,
  { source = 'rpc', expand: isExpanded = true, streamingBehavior, signal = NEVER_ABORTED }: InputOptions,
  { input: inputHook, expand }: SessionHooks,
): Promise<UserInput | 'handled'> {
  const hooked = inputHook && (await unlessAborted(inputHook({ ...raw, source, streamingBehavior }, signal), signal));
  if (hooked === 'handled') return hooked;
  const expanded = isExpanded && expand && (await unlessAborted(expand(hooked ?? raw, signal), signal));
  return expanded || hooked || raw;
}

/** A signal that never aborts. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** Validates the text and images that a client sent. */
export function parseInput(text: string, images: readonly ImageInput[] = []): UserInput {
  if (text === '' && images.length === 0)
    throw new Refusal('invalid_params', 'Invalid parameters: message must not be empty');
  return { text, images: images.map(parseImage) };
}

// Only the start of an image is checked.
const CHECKED_CHARACTERS = 4096;

function parseImage(input: ImageInput, index: number): ImageContent {
  const image = normalizeImage(input);
  const problem = imageProblem(image);
  if (problem) throw new Refusal('invalid_params', `Invalid parameters: images[${index}] ${problem}`);
  return image;
}

/** Why this cannot be an image, judged by its type and its first characters. */
export function imageProblem({ mimeType, data }: ImageContent): string | undefined {
  if (!mimeType.startsWith('image/')) return `must be an image, not ${mimeType}`;
  return /^[\w+/=\s-]+$/.test(data.slice(0, CHECKED_CHARACTERS)) ? undefined : 'must have data in base64';
}

export const userMessage = ({ text, images }: UserInput): UserMessage => ({
  role: 'user',
  content: [{ type: 'text', text }, ...images],
  timestamp: Date.now(),
});

function normalizeImage(image: ImageInput): ImageContent {
  if (!('source' in image)) return { type: 'image', data: image.data, mimeType: image.mimeType };
  const { data, mediaType, media_type, mimeType } = image.source;
  return { type: 'image', data, mimeType: mediaType ?? media_type ?? mimeType ?? 'image/png' };
}

/** The text of a message, without its images. */
export const textOf = ({ content }: { readonly content: string | readonly ContentBlock[] }): string =>
  typeof content === 'string' ? content : content.map((block) => (block.type === 'text' ? block.text : '')).join('');
