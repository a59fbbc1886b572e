import type { Emitter } from 'highlight.js';
import type { CodeToken, TokenColour } from './token.ts';

// The colour of each highlight.js scope, by its longest known prefix; other scopes have none.
const COLOURS: Readonly<Record<string, TokenColour>> = {
  addition: 'added',
  attr: 'attr',
  attribute: 'attr',
  built_in: 'type',
  bullet: 'keyword',
  code: 'string',
  comment: 'comment',
  deletion: 'removed',
  doctag: 'keyword',
  formula: 'string',
  keyword: 'keyword',
  link: 'string',
  literal: 'number',
  meta: 'meta',
  name: 'tag',
  number: 'number',
  property: 'attr',
  quote: 'comment',
  regexp: 'string',
  section: 'title',
  'selector-attr': 'attr',
  'selector-class': 'title',
  'selector-id': 'title',
  'selector-pseudo': 'keyword',
  'selector-tag': 'tag',
  string: 'string',
  symbol: 'string',
  tag: 'tag',
  'template-tag': 'meta',
  'template-variable': 'attr',
  title: 'title',
  'title.class': 'type',
  type: 'type',
  'variable.constant': 'number',
  'variable.language': 'keyword',
};

// Scopes that inherit the colour around them.
const TRANSPARENT = new Set(['punctuation', 'operator', 'char.escape', 'params', 'emphasis', 'strong']);

/** Collects the output of highlight.js as a flat list of tokens. */
export class TokenEmitter implements Emitter {
  readonly tokens: CodeToken[] = [];
  readonly #colours: (TokenColour | undefined)[] = [];
  /** The number of characters of all tokens. */
  length = 0;

  /** highlight.js calls these two for modes, and the next two for single words. */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  startScope(scope: string): void {
    this.#colours.push(TRANSPARENT.has(scope) ? this.#colours.at(-1) : colourOf(scope));
  }

  endScope(): void {
    this.#colours.pop();
  }

  addText(text: string): void {
    this.#add({ text, colour: this.#colours.at(-1) });
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof TokenEmitter) for (const token of emitter.tokens) this.#add(token);
  }

  finalize(): void {
    this.#colours.length = 0;
  }

  toHTML(): string {
    return '';
  }

  #add({ text, colour }: CodeToken): void {
    this.length += text.length;
    const last = this.tokens.at(-1);
    if (last && last.colour === colour) this.tokens[this.tokens.length - 1] = { text: last.text + text, colour };
    else if (text !== '') this.tokens.push({ text, colour });
  }
}

/** `title.class.inherited` has the colour of `title.class`. */
function colourOf(scope: string): TokenColour | undefined {
  for (let name = scope; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    if (Object.hasOwn(COLOURS, name)) return COLOURS[name];
  }
  return undefined;
}
