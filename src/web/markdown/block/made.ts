import type { Block, ListItem } from './block.ts';
import { takeDefinitions } from './definitions.ts';
import type { Container, OpenBlock } from './open-block.ts';

/** What blocks came to be, of which one may be still open. Those that are over come to the same objects every time. */
export const madeBlocks = (blocks: readonly OpenBlock[], open: OpenBlock | undefined): readonly Block[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'item' || block.kind === 'root') return [];
    const made = block.made ?? make(block, open);
    if (block.isOver) block.made = made;
    return made;
  });

function make(block: Exclude<OpenBlock, { kind: 'item' }>, open: OpenBlock | undefined): readonly Block[] {
  const isOpen = block === open ? { isOpen: true } : {};
  switch (block.kind) {
    case 'paragraph':
      return paragraph(block.text, isOpen);
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
      return [{ type: 'quote', blocks: madeBlocks(block.children, open) }];
    case 'list':
      return [list(block, open)];
    case 'details': {
      const { summary = 'Details', isUnfolded } = block;
      return [{ type: 'details', summary, isUnfolded, blocks: madeBlocks(block.children, open) }];
    }
    case 'rule':
      return [{ type: 'rule' }];
    case 'root':
      return [];
  }
}

function paragraph(whole: string, isOpen: { readonly isOpen?: boolean }): readonly Block[] {
  const text = takeDefinitions(whole).rest.trimEnd();
  // A line like the head of a table is not shown before it is known to be one, or too long for one.
  const isHidden = text === '' || (isOpen.isOpen && /^\|.{0,300}$/.test(text));
  return isHidden ? [] : [{ type: 'paragraph', text, ...isOpen }];
}

function list(block: Container & { readonly kind: 'list' }, open: OpenBlock | undefined): Block {
  const items = block.children.filter((child) => child.kind === 'item');
  const isLoose = items.some(
    ({ isApart, children }, at) => (at > 0 && isApart) || children.some((child, below) => below > 0 && child.isApart),
  );
  const made = items.map((item) => {
    const one = item.made ?? itemOf(madeBlocks(item.children, open));
    if (item.isOver) item.made = one;
    return one;
  });
  return { type: 'list', isLoose, items: made, ...(block.start === undefined ? {} : { start: block.start }) };
}

function itemOf(blocks: readonly Block[]): ListItem {
  const [first, ...others] = blocks;
  const task = first?.type === 'paragraph' ? /^\[([ xX])\]\s+(?=\S)/.exec(first.text) : null;
  if (!task || first?.type !== 'paragraph') return { blocks };
  return { blocks: [{ ...first, text: first.text.slice(task[0].length) }, ...others], isDone: task[1] !== ' ' };
}
