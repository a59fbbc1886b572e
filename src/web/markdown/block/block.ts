export type Align = 'left' | 'center' | 'right' | undefined;

export interface ListItem {
  readonly blocks: readonly ParsedBlock[];
  readonly isDone?: boolean | undefined;
}

/** A parsed block. Inline markdown is parsed when it is drawn. */
export type ParsedBlock =
  | { readonly type: 'paragraph'; readonly text: string; readonly isOpen?: boolean }
  | { readonly type: 'heading'; readonly level: number; readonly text: string; readonly isOpen?: boolean }
  | { readonly type: 'code'; readonly language: string; readonly text: string; readonly isOpen?: boolean }
  | { readonly type: 'quote'; readonly blocks: readonly ParsedBlock[] }
  | { readonly type: 'list'; readonly start?: number; readonly isLoose: boolean; readonly items: readonly ListItem[] }
  | TableBlock
  | {
      readonly type: 'details';
      readonly summary: string;
      readonly isUnfolded: boolean;
      readonly blocks: readonly ParsedBlock[];
    }
  | { readonly type: 'comment'; readonly text: string }
  | { readonly type: 'rule' };

export interface TableBlock {
  readonly type: 'table';
  readonly aligns: readonly Align[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isOpen?: boolean;
}
