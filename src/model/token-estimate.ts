import type { AssistantBlock, ContentBlock } from '../protocol/generated/vocabulary.ts';

const CHARACTERS_PER_TOKEN = 4;
/** An image costs by its area, not by its bytes; this is about what a screenshot takes. */
const CHARACTERS_PER_IMAGE = 4800;

type Block = AssistantBlock | ContentBlock | null;

/** A guess at how many tokens a text of this length is. */
export const tokensForCharacters = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

/** How much the content of a message counts. Files may hold content that says nothing. */
export function countCharacters(content: string | readonly Block[] | undefined): number {
  if (typeof content === 'string') return content.length;
  return Array.isArray(content) ? content.reduce((sum: number, block: Block) => sum + blockCharacters(block), 0) : 0;
}

function blockCharacters(block: Block): number {
  switch (block?.type) {
    case 'text':
      return block.text?.length ?? 0;
    case 'thinking':
      return block.thinking?.length ?? 0;
    case 'toolCall':
      return (block.name?.length ?? 0) + (JSON.stringify(block.arguments)?.length ?? 0);
    case 'image':
      return CHARACTERS_PER_IMAGE;
    default:
      return 0;
  }
}
