import { unescapeMarkdown } from './entities.ts';

interface LinkTarget {
  readonly address: string;
  readonly length: number;
}

const MAX_TARGET_CHARACTERS = 2000;
const SPACE = String.raw`[ \t]{0,9}\n?[ \t]{0,9}`;
const BRACKETED_ADDRESS = String.raw`<((?:[^<>\n\\]|\\.)*)>`;
// Parentheses in an address must be balanced, and not nested.
const LETTER = String.raw`[^\s()\\]|\\\S`;
const PLAIN_ADDRESS = String.raw`((?!<)(?:${LETTER}|\((?:${LETTER})*\))*)`;
const TITLE = String.raw`[ \t\n]{1,9}(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\([^()]*\))`;
const INLINE = new RegExp(String.raw`^\(${SPACE}(?:${BRACKETED_ADDRESS}|${PLAIN_ADDRESS})(?:${TITLE})?${SPACE}\)`);
const LABEL = /\[((?:[^[\]\\]|\\[\s\S]){0,999})\]/y;
const UNFINISHED = /^(?:\(\S*(?:\s+(?:"[^"]*|'[^']*)?)?|\[[^\]]*)?$/;

/** Parses the address in parentheses after a closing bracket. */
export function targetAt(text: string, at: number): LinkTarget | undefined {
  if (text[at] !== '(') return undefined;
  const [whole, bracketed, plain = ''] = INLINE.exec(text.slice(at, at + MAX_TARGET_CHARACTERS)) ?? [];
  return whole === undefined ? undefined : { address: unescapeMarkdown(bracketed ?? plain), length: whole.length };
}

/** Parses the label in brackets after a closing bracket. */
export function labelAt(text: string, at: number): { readonly label: string; readonly length: number } | undefined {
  if (text[at] !== '[') return undefined;
  LABEL.lastIndex = at;
  const [whole, label = ''] = LABEL.exec(text) ?? [];
  return whole === undefined ? undefined : { label, length: whole.length };
}

/** Whether the rest of the text may be the start of a link target. */
export const mayBecomeTarget = (text: string, at: number): boolean =>
  text.length - at < MAX_TARGET_CHARACTERS && UNFINISHED.test(text.slice(at));

/** Returns the URL of a link; undefined for other schemes than http, https and mailto. */
export function safeLink(address: string): string | undefined {
  const plain = address.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(plain)) return undefined;
  try {
    const { href, protocol } = new URL(plain);
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}
