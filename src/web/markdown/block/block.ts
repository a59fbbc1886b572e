/** Where the text of a column stands. */
export type Align = 'left' | 'center' | 'right' | undefined;

export interface ListItem {
  readonly blocks: readonly Block[];
  /** Of a task. */
  readonly isDone?: boolean | undefined;
}

/** What a text of markdown consists of. Words are read when they are shown. */
export type Block =
  | { readonly type: 'paragraph'; readonly text: string; readonly isOpen?: boolean }
  | { readonly type: 'heading'; readonly level: number; readonly text: string; readonly isOpen?: boolean }
  | { readonly type: 'code'; readonly language: string; readonly text: string; readonly isOpen?: boolean }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly start?: number; readonly isLoose: boolean; readonly items: readonly ListItem[] }
  | Table
  | {
      readonly type: 'details';
      readonly summary: string;
      readonly isUnfolded: boolean;
      readonly blocks: readonly Block[];
    }
  | { readonly type: 'comment'; readonly text: string }
  | { readonly type: 'rule' };

export interface Table {
  readonly type: 'table';
  readonly aligns: readonly Align[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isOpen?: boolean;
}
