import type { ListItem, ParsedBlock } from './block.ts';
import { takeDefinitions } from './link-definitions.ts';
import type { ContainerBlock, OpenBlock } from './open-block.ts';

/** Converts open blocks to results. Ended blocks return the same objects every time. */
export const buildBlocks = (blocks: readonly OpenBlock[], open: OpenBlock | undefined): readonly ParsedBlock[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'item' || block.kind === 'root') return [];
    const built = block.built ?? buildBlock(block, open);
    if (block.isEnded) block.built = built;
    return built;
  });

function buildBlock(block: Exclude<OpenBlock, { kind: 'item' }>, open: OpenBlock | undefined): readonly ParsedBlock[] {
  const isOpen = block === open ? { isOpen: true } : {};
  switch (block.kind) {
    case 'paragraph':
      return buildParagraph(block.text, isOpen);
    case 'heading':
      return [{ type: 'heading', level: block.level, text: block.text, ...isOpen }];
    case 'fence':
      return [{ type: 'code', language: block.info, text: block.text.slice(0, -1), ...isOpen }];
    case 'indented':
      return [{ type: 'code', language: '', text: block.text.trimEnd(), ...isOpen }];
    case 'comment':
      return [{ type: 'comment', text: block.text }];
    case 'table':
      return [{ type: 'table', aligns: block.aligns, head: block.head, rows: block.rows, ...isOpen }];
    case 'quote':
      return [{ type: 'quote', blocks: buildBlocks(block.children, open) }];
    case 'list':
      return [buildList(block, open)];
    case 'details': {
      const { summary = 'Details', isUnfolded } = block;
      return [{ type: 'details', summary, isUnfolded, blocks: buildBlocks(block.children, open) }];
    }
    case 'rule':
      return [{ type: 'rule' }];
    case 'root':
      return [];
  }
}

function buildParagraph(whole: string, isOpen: { readonly isOpen?: boolean }): readonly ParsedBlock[] {
  const text = takeDefinitions(whole).rest.trimEnd();
  // A possible table head is hidden until the next line decides, or until it is too long.
  const isHidden = text === '' || (isOpen.isOpen && /^\|.{0,300}$/.test(text));
  return isHidden ? [] : [{ type: 'paragraph', text, ...isOpen }];
}

function buildList(block: ContainerBlock & { readonly kind: 'list' }, open: OpenBlock | undefined): ParsedBlock {
  const items = block.children.filter((child) => child.kind === 'item');
  const isLoose = items.some(
    ({ afterBlank, children }, at) =>
      (at > 0 && afterBlank) || children.some((child, below) => below > 0 && child.afterBlank),
  );
  const built = items.map((item) => {
    const builtItem = item.built ?? buildItem(buildBlocks(item.children, open));
    if (item.isEnded) item.built = builtItem;
    return builtItem;
  });
  return { type: 'list', isLoose, items: built, ...(block.start === undefined ? {} : { start: block.start }) };
}

function buildItem(blocks: readonly ParsedBlock[]): ListItem {
  const [first, ...others] = blocks;
  const task = first?.type === 'paragraph' ? /^\[([ xX])\]\s+(?=\S)/.exec(first.text) : null;
  if (!task || first?.type !== 'paragraph') return { blocks };
  return { blocks: [{ ...first, text: first.text.slice(task[0].length) }, ...others], isDone: task[1] !== ' ' };
}
