import type { Marks } from './emphasis.ts';

const SPACE = /^\s?$/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** A run of marks and what it may do, which depends on what it stands between. */
export function marksAt(text: string, at: number): Marks {
  const character = text[at] ?? '';
  let end = at;
  while (text[end] === character) end++;
  const before = characterBefore(text, at);
  const after = String.fromCodePoint(text.codePointAt(end) ?? 0x20);
  const isLeft = flanks({ inner: after, outer: before });
  const isRight = flanks({ inner: before, outer: after });
  const isWord = character === '_';
  return {
    type: 'marks',
    character,
    length: end - at,
    mayOpen: isLeft && (!isWord || !isRight || PUNCTUATION.test(before)),
    mayClose: isRight && (!isWord || !isLeft || PUNCTUATION.test(after)),
    isBeforeWord: SPACE.test(before) || PUNCTUATION.test(before),
  };
}

function flanks({ inner, outer }: { readonly inner: string; readonly outer: string }): boolean {
  if (SPACE.test(inner)) return false;
  return !PUNCTUATION.test(inner) || SPACE.test(outer) || PUNCTUATION.test(outer) || UNSPACED.test(outer);
}

function characterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? ' ';
  return /[\udc00-\udfff]/.test(last) ? text.slice(Math.max(0, at - 2), at) : last;
}
