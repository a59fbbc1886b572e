/** The colours of code, by what they are for. */
export type Colour =
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

/** A piece of code in one colour, or in none. */
export interface Token {
  readonly text: string;
  readonly colour: Colour | undefined;
}

/** Code of some language, by the name that it goes by; '' for none. */
export interface Code {
  readonly text: string;
  readonly language: string;
  /** Whether more is to come. */
  readonly isOpen: boolean;
}

/** Code in pieces. */
export interface Highlighted {
  readonly tokens: readonly Token[];
  /** Whether what follows can be read without knowing this. */
  readonly isAtRest: boolean;
  /** Whether it took longer than colours are worth. */
  readonly isSlow: boolean;
}

/** Tells pieces of code apart; undefined when it does not know the language. */
export type Highlight = (text: string, language: string) => Highlighted | undefined;
