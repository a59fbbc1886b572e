import type { ContentBlock } from '../../../protocol/generated/vocabulary.ts';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
}

// The API rejects other image types.
const supportedImageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** Text and images in the form of the API. */
export function contentBlocks(content: string | readonly ContentBlock[]): (TextBlock | ImageBlock)[] {
  if (typeof content === 'string') return textBlocks(content);
  return content.flatMap((block) => (block.type === 'text' ? textBlocks(block.text) : [imageBlock(block)]));
}

/** The API rejects blank texts. */
export const textBlocks = (text: string): TextBlock[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

function imageBlock({ mimeType, data }: Extract<ContentBlock, { type: 'image' }>): TextBlock | ImageBlock {
  if (!supportedImageTypes.has(mimeType))
    return { type: 'text', text: `[An image of type ${mimeType}, which this model cannot see]` };
  return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
}

/** Marks the end of the prefix that the server shall cache. */
export interface CacheMark {
  readonly cache_control?: { readonly type: 'ephemeral' };
}

/** Marks the last of the blocks. */
export const lastMarked = <Block extends object>(blocks: readonly Block[]): (Block & CacheMark)[] =>
  blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  );
