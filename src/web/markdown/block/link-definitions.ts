import { unescapeMarkdown } from '../inline/entities.ts';

/** Link reference definitions by label; the first one of a label wins. */
export class LinkDefinitions {
  readonly #inherited: LinkDefinitions | undefined;
  readonly #own = new Map<string, string>();

  constructor(inherited?: LinkDefinitions) {
    this.#inherited = inherited;
  }

  get size(): number {
    return this.#own.size + (this.#inherited?.size ?? 0);
  }

  /** Whether nothing was added to the inherited definitions. */
  get isUnchanged(): boolean {
    return this.#own.size === 0;
  }

  get(label: string): string | undefined {
    return this.#inherited?.get(label) ?? this.#own.get(label);
  }

  add(label: string, address: string): void {
    if (this.get(label) === undefined) this.#own.set(label, address);
  }
}

const LABEL = String.raw`\[((?:[^[\]\\]|\\[\s\S]){1,999})\]:`;
const ADDRESS = String.raw`[ \t]*(?:\n[ \t]*)?(?:<([^<>\n]{0,2000})>|([^\s<]\S{0,2000}))`;
const TITLE = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*)(?:"[^"\n]{0,999}"|'[^'\n]{0,999}'|\([^()\n]{0,999}\))`;
const DEFINITION = new RegExp(String.raw`${LABEL}${ADDRESS}(?:${TITLE})?[ \t]*(?:\n|$)`, 'y');

/** Splits link definitions off the start of a paragraph. */
export function takeDefinitions(text: string): { readonly found: readonly [string, string][]; readonly rest: string } {
  const found: [string, string][] = [];
  let end = 0;
  for (;;) {
    DEFINITION.lastIndex = end;
    const [whole, label = '', bracketed, plain = ''] = (text[end] === '[' && DEFINITION.exec(text)) || [];
    if (whole === undefined || label.trim() === '') return { found, rest: text.slice(end) };
    found.push([normalizeLabel(label), unescapeMarkdown(bracketed ?? plain)]);
    end += whole.length;
  }
}

/** Labels match regardless of case and spacing. */
export const normalizeLabel = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').toLowerCase();
