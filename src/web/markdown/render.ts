import { codeBlock } from '../code/code-block.ts';
import { element } from '../element.ts';
import { type Block, type ListItem, parseBlocks } from './blocks.ts';
import type { Inline } from './inline.ts';

/** A longer text is shown as it is. */
const MAX_LENGTH = 200_000;

/** Shows a text of markdown, built node by node: whatever it holds, it can only become text, lists, code and links. */
export function renderMarkdown(text: string): HTMLElement {
  if (text.length > MAX_LENGTH) return element('pre', { class: 'plain' }, text);
  const shown = element('div', { class: 'markdown', attributes: { dir: 'auto' } });
  shown.append(...parseBlocks(text).map(renderBlock));
  return shown;
}

function renderBlock(block: Block): HTMLElement {
  switch (block.type) {
    case 'paragraph':
      return element('p', {}, ...block.content.map(renderInline));
    case 'heading':
      return element(headingTag(block.level), {}, ...block.content.map(renderInline));
    case 'code':
      return codeBlock(block.text, block.language);
    case 'quote':
      return element('blockquote', {}, ...block.blocks.map(renderBlock));
    case 'list':
      return renderList(block.start, block.items);
    case 'table':
      return renderTable(block.head, block.rows);
    case 'rule':
      return element('hr');
  }
}

/** The page has its own first and second heading. */
const headingTag = (level: number) => (level <= 1 ? 'h3' : level === 2 ? 'h4' : level === 3 ? 'h5' : 'h6');

function renderList(start: number | undefined, items: readonly ListItem[]): HTMLElement {
  const shown = items.map(renderItem);
  if (start === undefined) return element('ul', {}, ...shown);
  return element('ol', { attributes: start === 1 ? {} : { start: String(start) } }, ...shown);
}

function renderItem({ blocks, isDone }: ListItem): HTMLElement {
  const content = blocks.flatMap((block) =>
    // One line is a line, not a paragraph of its own.
    block.type === 'paragraph' && block === blocks[0] ? block.content.map(renderInline) : [renderBlock(block)],
  );
  if (isDone === undefined) return element('li', {}, ...content);
  const box = element('input', {
    attributes: { type: 'checkbox', disabled: '', 'aria-label': isDone ? 'done' : 'open' },
  });
  box.checked = isDone;
  return element('li', { class: 'task' }, box, ...content);
}

function renderTable(
  head: readonly (readonly Inline[])[],
  rows: readonly (readonly (readonly Inline[])[])[],
): HTMLElement {
  const row = (tag: 'th' | 'td', cells: readonly (readonly Inline[])[]) =>
    element('tr', {}, ...cells.map((cell) => element(tag, {}, ...cell.map(renderInline))));
  const body = element('tbody', {}, ...rows.map((cells) => row('td', cells)));
  return element('div', { class: 'wide' }, element('table', {}, element('thead', {}, row('th', head)), body));
}

function renderInline(inline: Inline): Node {
  switch (inline.type) {
    case 'text':
      return document.createTextNode(inline.text);
    case 'code':
      return element('code', {}, inline.text);
    case 'break':
      return element('br');
    case 'link':
      return link(inline.href, inline.children);
    default: {
      const tag = ({ strong: 'strong', emphasis: 'em', strike: 's' } as const)[inline.type];
      return element(tag, {}, ...inline.children.map(renderInline));
    }
  }
}

/** Says where it leads: the words of a link may claim anything. */
const link = (href: string, children: readonly Inline[]) =>
  element(
    'a',
    { attributes: { href, title: href, target: '_blank', rel: 'noopener noreferrer' } },
    ...children.map(renderInline),
  );
