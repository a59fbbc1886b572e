import type { DelimiterRun } from './emphasis.ts';

const SPACE = /^\s?$/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;
// Scripts without spaces between words.
const SCRIPT_WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** The delimiter run at a position, and whether it can open or close emphasis by its neighbours. */
export function delimiterRunAt(text: string, at: number): DelimiterRun {
  const character = text[at] ?? '';
  let end = at;
  while (text[end] === character) end++;
  const before = characterBefore(text, at);
  const after = String.fromCodePoint(text.codePointAt(end) ?? 0x20);
  const isLeft = flanks({ inner: after, outer: before });
  const isRight = flanks({ inner: before, outer: after });
  const isWord = character === '_';
  return {
    type: 'run',
    character,
    length: end - at,
    mayOpen: isLeft && (!isWord || !isRight || PUNCTUATION.test(before)),
    mayClose: isRight && (!isWord || !isLeft || PUNCTUATION.test(after)),
    isBeforeWord: SPACE.test(before) || PUNCTUATION.test(before),
  };
}

function flanks({ inner, outer }: { readonly inner: string; readonly outer: string }): boolean {
  if (SPACE.test(inner)) return false;
  return !PUNCTUATION.test(inner) || SPACE.test(outer) || PUNCTUATION.test(outer) || SCRIPT_WITHOUT_SPACES.test(outer);
}

function characterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? ' ';
  return /[\udc00-\udfff]/.test(last) ? text.slice(Math.max(0, at - 2), at) : last;
}
