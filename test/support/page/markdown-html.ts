import type { ParsedBlock } from '../../../src/web/markdown/block/block.ts';
import type { LinkDefinitions } from '../../../src/web/markdown/block/link-definitions.ts';
import { MarkdownReader } from '../../../src/web/markdown/block/markdown-reader.ts';
import type { Inline } from '../../../src/web/markdown/inline/inline.ts';
import { parseInline } from '../../../src/web/markdown/inline/inline-reader.ts';

/** Renders markdown to plain HTML; a reader may have read the beginning of the text before. */
export function markdownHtml(text: string, reader = new MarkdownReader()): string {
  const { blocks, definitions } = reader.read(text);
  return blocks.map((block) => blockHtml(block, definitions)).join('');
}

/** Renders inline markdown to plain HTML. */
export const inlineHtml = (inlines: readonly Inline[]): string => inlines.map(inlineElement).join('');

function blockHtml(block: ParsedBlock, definitions: LinkDefinitions): string {
  const inline = (text: string) => inlineHtml(parseInline(text, { lookUp: (label) => definitions.get(label) }));
  const nested = (blocks: readonly ParsedBlock[]) => blocks.map((child) => blockHtml(child, definitions)).join('');
  switch (block.type) {
    case 'paragraph':
      return `<p>${inline(block.text)}</p>`;
    case 'heading':
      return `<h${block.level}>${inline(block.text)}</h${block.level}>`;
    case 'code':
      return `<pre${block.language ? ` ${block.language}` : ''}>${escaped(block.text)}</pre>`;
    case 'quote':
      return `<blockquote>${nested(block.blocks)}</blockquote>`;
    case 'list': {
      const tag = block.start === undefined ? 'ul' : 'ol';
      const start = block.start === undefined || block.start === 1 ? '' : ` start=${block.start}`;
      const items = block.items.map(({ blocks, isDone }) => {
        const box = isDone === undefined ? '' : isDone ? '[x]' : '[ ]';
        const all = blocks.map((child) =>
          child.type === 'paragraph' && !block.isLoose ? inline(child.text) : blockHtml(child, definitions),
        );
        return `<li>${box}${all.join('')}</li>`;
      });
      return `<${tag}${start}>${items.join('')}</${tag}>`;
    }
    case 'table': {
      const row = (cells: readonly string[], tag: string) =>
        `<tr>${cells.map((cell, at) => `<${tag}${block.aligns[at] ? ` ${block.aligns[at]}` : ''}>${inline(cell)}</${tag}>`).join('')}</tr>`;
      return `<table>${row(block.head, 'th')}${block.rows.map((cells) => row(cells, 'td')).join('')}</table>`;
    }
    case 'details':
      return `<details><summary>${inline(block.summary)}</summary>${nested(block.blocks)}</details>`;
    case 'comment':
      return block.text;
    case 'rule':
      return '<hr>';
  }
}

function inlineElement(inline: Inline): string {
  switch (inline.type) {
    case 'text':
      return escaped(inline.text);
    case 'comment':
      return inline.text;
    case 'code':
      return `<code>${escaped(inline.text)}</code>`;
    case 'break':
      return '<br>';
    case 'link':
      return `<a ${inline.href}>${inlineHtml(inline.children)}</a>`;
    case 'picture':
      return `<img ${inline.href} ${escaped(inline.alt)}>`;
    default: {
      const tag = ({ strong: 'strong', emphasis: 'em', strike: 'del' } as const)[inline.type];
      return `<${tag}>${inlineHtml(inline.children)}</${tag}>`;
    }
  }
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
