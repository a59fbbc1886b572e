import type { Align, ListItem, ParsedBlock } from './block.ts';
import type { LineCursor } from './line-cursor.ts';

interface BlockState {
  // Whether a blank line precedes it.
  readonly afterBlank: boolean;
  // Whether no further line can belong to it.
  isEnded?: boolean;
}

export type ContainerBlock = BlockState & { children: OpenBlock[] } & (
    | { readonly kind: 'root' | 'quote'; built?: readonly ParsedBlock[] }
    | {
        readonly kind: 'list';
        readonly mark: string;
        readonly start: number | undefined;
        built?: readonly ParsedBlock[];
      }
    | {
        readonly kind: 'details';
        summary: string | undefined;
        readonly isUnfolded: boolean;
        built?: readonly ParsedBlock[];
      }
    | ItemBlock
  );

type ItemBlock = BlockState & {
  readonly kind: 'item';
  // Indentation of its lines.
  readonly width: number;
  children: OpenBlock[];
  built?: ListItem;
};

type LeafBlock = BlockState & { built?: readonly ParsedBlock[] } & (
    | { readonly kind: 'paragraph'; text: string }
    | { readonly kind: 'heading'; readonly level: number; readonly text: string }
    | { readonly kind: 'fence'; readonly fence: string; readonly indent: number; readonly info: string; text: string }
    | { readonly kind: 'indented'; text: string }
    | { readonly kind: 'comment'; text: string; isClosed: boolean }
    | {
        readonly kind: 'table';
        readonly aligns: readonly Align[];
        readonly head: readonly string[];
        rows: (readonly string[])[];
      }
    | { readonly kind: 'rule' }
  );

/** A block during parsing; its result is cached in `built` once it has ended. */
export type OpenBlock = ContainerBlock | LeafBlock;

export const isContainer = (block: OpenBlock | undefined): block is ContainerBlock =>
  block !== undefined && 'children' in block;

export const isVerbatim = (block: OpenBlock | undefined): boolean =>
  block?.kind === 'fence' || block?.kind === 'indented' || block?.kind === 'comment';

/** Copies the state of a block; ended children are shared. */
export function forkBlock(block: OpenBlock): OpenBlock {
  if (isContainer(block)) return { ...block, children: [...block.children] };
  return block.kind === 'table' ? { ...block, rows: [...block.rows] } : { ...block };
}

/** Consumes the part of a line that continues a block and returns whether it does; `ends` for its last line. */
export function continueBlock(block: OpenBlock, line: LineCursor): boolean | 'ends' {
  switch (block.kind) {
    case 'root':
    case 'list':
    case 'details':
      return true;
    case 'quote':
      return takeQuoteMark(line);
    case 'item':
      if (line.isBlank) return block.children.length > 0;
      if (line.indent < block.width) return false;
      line.skipBlank(block.width);
      return true;
    case 'fence':
      if (line.indent < 4 && closes(block.fence, line.content)) return 'ends';
      line.skipBlank(block.indent);
      return true;
    case 'indented':
      if (line.indent < 4 && !line.isBlank) return false;
      line.skipBlank(4);
      return true;
    case 'comment':
      return !block.isClosed && !line.isBlank;
    case 'paragraph':
    case 'table':
      return !line.isBlank;
    case 'heading':
    case 'rule':
      return false;
  }
}

export function takeQuoteMark(line: LineCursor): boolean {
  if (line.indent > 3 || !line.content.startsWith('>')) return false;
  line.skipContent(1);
  line.skipBlank(1);
  return true;
}

function closes(fence: string, content: string): boolean {
  if (!content.startsWith(fence)) return false;
  const marks = content.trimEnd();
  return marks === (fence[0] ?? '').repeat(marks.length);
}
