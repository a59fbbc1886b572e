import type { Emitter } from 'highlight.js';
import type { Colour, Token } from './token.ts';

/** What the scopes of highlight.js are coloured as, by their first words; others are in no colour. */
const COLOURS: Readonly<Record<string, Colour>> = {
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

/** Scopes that keep the colour of what they are in. */
const TRANSPARENT = new Set(['punctuation', 'operator', 'char.escape', 'params', 'emphasis', 'strong']);

/** Takes what highlight.js tells while it reads, as tokens one after another. */
export class TokenEmitter implements Emitter {
  readonly tokens: Token[] = [];
  readonly #colours: (Colour | undefined)[] = [];
  /** Of all that was told. */
  length = 0;

  /** Modes are told by these two names, single words by the two below. */
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

  #add({ text, colour }: Token): void {
    this.length += text.length;
    const last = this.tokens.at(-1);
    if (last && last.colour === colour) this.tokens[this.tokens.length - 1] = { text: last.text + text, colour };
    else if (text !== '') this.tokens.push({ text, colour });
  }
}

/** By the longest beginning of the scope that has a colour: `title.class.inherited` is a `title.class`. */
function colourOf(scope: string): Colour | undefined {
  for (let name = scope; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    if (Object.hasOwn(COLOURS, name)) return COLOURS[name];
  }
  return undefined;
}
