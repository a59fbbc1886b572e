/** Token colours, named by their use. */
export type TokenColour =
  | 'comment'
  | 'string'
  | 'number'
  | 'keyword'
  | 'title'
  | 'type'
  | 'attr'
  | 'tag'
  | 'meta'
  | 'added'
  | 'removed';

export interface CodeToken {
  readonly text: string;
  readonly colour: TokenColour | undefined;
}

/** Code and the name of its language; '' for none. */
export interface SourceCode {
  readonly text: string;
  readonly language: string;
  readonly isOpen: boolean;
}

export interface HighlightResult {
  readonly tokens: readonly CodeToken[];
  /** Whether the following text can be tokenised on its own. */
  readonly endsAtTopLevel: boolean;
  /** Whether it took longer than the time limit. */
  readonly isSlow: boolean;
}

/** Tokenises code; undefined for an unknown language. */
export type Highlighter = (text: string, language: string) => HighlightResult | undefined;
