import type { Align, Block, ListItem } from './block.ts';

interface Beginning {
  /** Whether an empty line stands between it and what comes before. */
  readonly isApart: boolean;
  /** Whether no line can be part of it any more. */
  isOver?: boolean;
}

/** What holds other blocks. */
export type Container = Beginning & { children: OpenBlock[] } & (
    | { readonly kind: 'root' | 'quote'; made?: readonly Block[] }
    | { readonly kind: 'list'; readonly mark: string; readonly start: number | undefined; made?: readonly Block[] }
    | {
        readonly kind: 'details';
        summary: string | undefined;
        readonly isUnfolded: boolean;
        made?: readonly Block[];
      }
    | Item
  );

type Item = Beginning & {
  readonly kind: 'item';
  /** How far its lines are set in. */
  readonly width: number;
  children: OpenBlock[];
  made?: ListItem;
};

/** What holds lines. */
type Leaf = Beginning & { made?: readonly Block[] } & (
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

/** A block that is being read. What it came to be is kept as `made` once it is over. */
export type OpenBlock = Container | Leaf;

export const isContainer = (block: OpenBlock | undefined): block is Container =>
  block !== undefined && 'children' in block;

/** Whether its lines are taken as they are. */
export const isVerbatim = (block: OpenBlock | undefined): boolean =>
  block?.kind === 'fence' || block?.kind === 'indented' || block?.kind === 'comment';

/** The same as it stands now, to be read on without changing this one; what is over inside is shared. */
export function forkOf(block: OpenBlock): OpenBlock {
  if (isContainer(block)) return { ...block, children: [...block.children] };
  return block.kind === 'table' ? { ...block, rows: [...block.rows] } : { ...block };
}
