import type { Align, ParsedBlock, ListItem } from './block.ts';

interface BlockState {
  // Whether a blank line precedes it.
  readonly afterBlank: boolean;
  // Whether no further line can belong to it.
  isEnded?: boolean;
}

export type ContainerBlock = BlockState & { children: OpenBlock[] } & (
    | { readonly kind: 'root' | 'quote'; built?: readonly ParsedBlock[] }
    | { readonly kind: 'list'; readonly mark: string; readonly start: number | undefined; built?: readonly ParsedBlock[] }
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
