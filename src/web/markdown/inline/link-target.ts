import { unescaped } from './entities.ts';

interface Target {
  readonly address: string;
  /** Of what was read behind the bracket. */
  readonly length: number;
}

const MAX_LENGTH = 2000;
const SPACE = String.raw`[ \t]{0,9}\n?[ \t]{0,9}`;
const POINTED = String.raw`<((?:[^<>\n\\]|\\.)*)>`;
/** Parentheses in an address come in pairs, and not within each other. */
const LETTER = String.raw`[^\s()\\]|\\\S`;
const PLAIN = String.raw`((?!<)(?:${LETTER}|\((?:${LETTER})*\))*)`;
const TITLE = String.raw`[ \t\n]{1,9}(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\([^()]*\))`;
const INLINE = new RegExp(String.raw`^\(${SPACE}(?:${POINTED}|${PLAIN})(?:${TITLE})?${SPACE}\)`);
const LABEL = /\[((?:[^[\]\\]|\\[\s\S]){0,999})\]/y;
const UNFINISHED = /^(?:\(\S*(?:\s+(?:"[^"]*|'[^']*)?)?|\[[^\]]*)?$/;

/** What stands in parentheses behind the bracket that ends at a place. */
export function targetAt(text: string, at: number): Target | undefined {
  if (text[at] !== '(') return undefined;
  const [whole, pointed, plain = ''] = INLINE.exec(text.slice(at, at + MAX_LENGTH)) ?? [];
  return whole === undefined ? undefined : { address: unescaped(pointed ?? plain), length: whole.length };
}

/** What stands in brackets there. */
export function labelAt(text: string, at: number): { readonly label: string; readonly length: number } | undefined {
  if (text[at] !== '[') return undefined;
  LABEL.lastIndex = at;
  const [whole, label = ''] = LABEL.exec(text) ?? [];
  return whole === undefined ? undefined : { label, length: whole.length };
}

/** Whether all that follows may be the beginning of an address. */
export const mayBecomeTarget = (text: string, at: number): boolean =>
  text.length - at < MAX_LENGTH && UNFINISHED.test(text.slice(at));
