import type { ContentBlock } from '../protocol/generated/vocabulary.ts';

/** The text of a message, without its images. */
export const textOf = ({ content }: { readonly content: string | readonly ContentBlock[] }): string =>
  typeof content === 'string' ? content : content.map((block) => (block.type === 'text' ? block.text : '')).join('');
