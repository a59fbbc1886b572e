import { codeBlock } from '../code/code-block.ts';
import { element } from '../element.ts';
import type { Block, ListItem } from './block/block.ts';
import type { Definitions } from './block/definitions.ts';
import { MarkdownReader } from './block/markdown-reader.ts';
import type { Inline } from './inline/inline.ts';
import { parseInline } from './inline/inline-reader.ts';

/** A longer text is shown as it is. */
const MAX_LENGTH = 200_000;

/** Shows a text of markdown, built node by node: whatever it holds, it can only become text, lists, code and links. */
export function renderMarkdown(text: string): HTMLElement {
  if (text.length > MAX_LENGTH) return element('pre', { class: 'plain' }, text);
  const { blocks, definitions } = new MarkdownReader().read(text);
  const shown = element('div', { class: 'markdown', attributes: { dir: 'auto' } });
  shown.append(...blocks.map((block) => renderBlock(block, definitions)));
  return shown;
}

function renderBlock(block: Block, definitions: Definitions): HTMLElement {
  const words = (text: string) => parseInline(text, { lookUp: (label) => definitions.get(label) }).map(renderInline);
  const inside = (blocks: readonly Block[]) => blocks.map((one) => renderBlock(one, definitions));
  switch (block.type) {
    case 'paragraph':
      return element('p', {}, ...words(block.text));
    case 'heading':
      return element(headingTag(block.level), {}, ...words(block.text));
    case 'code':
      return codeBlock(block.text, block.language);
    case 'quote':
      return element('blockquote', {}, ...inside(block.blocks));
    case 'list': {
      const items = block.items.map((item) => renderItem(item, definitions));
      if (block.start === undefined) return element('ul', {}, ...items);
      return element('ol', { attributes: block.start === 1 ? {} : { start: String(block.start) } }, ...items);
    }
    case 'table': {
      const row = (tag: 'th' | 'td', cells: readonly string[]) =>
        element('tr', {}, ...cells.map((cell) => element(tag, {}, ...words(cell))));
      const body = element('tbody', {}, ...block.rows.map((cells) => row('td', cells)));
      return element('div', { class: 'wide' }, element('table', {}, element('thead', {}, row('th', block.head)), body));
    }
    case 'details':
      return element('details', {}, element('summary', {}, ...words(block.summary)), ...inside(block.blocks));
    case 'comment':
      return element('p', { class: 'comment' }, block.text);
    case 'rule':
      return element('hr');
  }
}

/** The page has its own first and second heading. */
const headingTag = (level: number) => (level <= 1 ? 'h3' : level === 2 ? 'h4' : level === 3 ? 'h5' : 'h6');

function renderItem({ blocks, isDone }: ListItem, definitions: Definitions): HTMLElement {
  const [first, ...others] = blocks.map((block) => renderBlock(block, definitions));
  // One line is a line, not a paragraph of its own.
  const line = first?.localName === 'p' ? [...first.childNodes] : first ? [first] : [];
  if (isDone === undefined) return element('li', {}, ...line, ...others);
  const box = element('input', {
    attributes: { type: 'checkbox', disabled: '', 'aria-label': isDone ? 'done' : 'open' },
  });
  box.checked = isDone;
  return element('li', { class: 'task' }, box, ...line, ...others);
}

function renderInline(inline: Inline): Node {
  switch (inline.type) {
    case 'text':
      return document.createTextNode(inline.text);
    case 'code':
      return element('code', {}, inline.text);
    case 'comment':
      return element('span', { class: 'comment' }, inline.text);
    case 'break':
      return element('br');
    case 'link':
      return link(inline.href, inline.children.map(renderInline));
    case 'picture':
      return link(inline.href, [`Picture: ${inline.alt || inline.href}`]);
    default: {
      const tag = ({ strong: 'strong', emphasis: 'em', strike: 's' } as const)[inline.type];
      return element(tag, {}, ...inline.children.map(renderInline));
    }
  }
}

/** Says where it leads: the words of a link may claim anything. */
const link = (href: string, children: readonly (Node | string)[]) =>
  element('a', { attributes: { href, title: href, target: '_blank', rel: 'noopener noreferrer' } }, ...children);
