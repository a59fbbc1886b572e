import { unescaped } from '../inline/entities.ts';

/** Where links lead whose addresses are told in a place of their own. The first of a name counts. */
export class Definitions {
  readonly #before: Definitions | undefined;
  readonly #own = new Map<string, string>();

  /** Those that were there before, and what is added. */
  constructor(before?: Definitions) {
    this.#before = before;
  }

  get size(): number {
    return this.#own.size + (this.#before?.size ?? 0);
  }

  /** Whether nothing was added. */
  get isUnchanged(): boolean {
    return this.#own.size === 0;
  }

  get(label: string): string | undefined {
    return this.#before?.get(label) ?? this.#own.get(label);
  }

  add(label: string, address: string): void {
    if (this.get(label) === undefined) this.#own.set(label, address);
  }
}

const LABEL = String.raw`\[((?:[^[\]\\]|\\[\s\S]){1,999})\]:`;
const ADDRESS = String.raw`[ \t]*(?:\n[ \t]*)?(?:<([^<>\n]{0,2000})>|([^\s<]\S{0,2000}))`;
const TITLE = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*)(?:"[^"\n]{0,999}"|'[^'\n]{0,999}'|\([^()\n]{0,999}\))`;
const DEFINITION = new RegExp(String.raw`${LABEL}${ADDRESS}(?:${TITLE})?[ \t]*(?:\n|$)`, 'y');

/** Takes the definitions from the beginning of a paragraph. */
export function takeDefinitions(text: string): { readonly found: readonly [string, string][]; readonly rest: string } {
  const found: [string, string][] = [];
  let end = 0;
  for (;;) {
    DEFINITION.lastIndex = end;
    const [whole, label = '', pointed, plain = ''] = (text[end] === '[' && DEFINITION.exec(text)) || [];
    if (whole === undefined || label.trim() === '') return { found, rest: text.slice(end) };
    found.push([labelOf(label), unescaped(pointed ?? plain)]);
    end += whole.length;
  }
}

/** What a link is called, however it is spaced and cased. */
export const labelOf = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').toLowerCase();
