import { useMemo } from 'preact/hooks';
import type { Code, Colour, Token } from '../code/token.ts';

/** Where comments begin with `#`. */
const HASHED = new Set(
  'sh bash shell zsh console fish py python rb ruby yaml yml toml ini conf dockerfile make makefile perl pl r elixir ex nix'.split(
    ' ',
  ),
);
/** Where nothing is code. */
const PROSE = new Set(['', 'md', 'markdown', 'txt', 'text', 'log', 'csv', 'html', 'xml', 'svg', 'diff', 'patch']);

const KEYWORDS = new Set(
  `and as async await break case catch class const continue def default do elif else enum export extends false finally fn for from
  func function if impl implements import in interface is let match mod mut new nil None not null or package private pub public
  raise readonly return self static struct super switch this throw trait true True False try type typeof undefined use using var
  void while with yield then esac fi done local echo`.split(/\s+/),
);

const STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\x60(?:\\[\s\S]|[^\x60\\])*\x60`;
const NUMBER = String.raw`\b0[xX][\da-fA-F]+\b|\b\d+(?:\.\d+)?\b`;
const patternWith = (comment: string) => new RegExp(`(${comment})|(${STRING})|(${NUMBER})|([A-Za-z_]\\w*)`, 'g');

const slashes = patternWith(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const hashes = patternWith(String.raw`(?<![\w$])#[^\n]*`);
const colours = ['comment', 'string', 'number'] as const;

/** So many lines are read at a time: what is not closed at their end is not looked for any further. */
const LINES = /(?:[^\n]*\n){1,40}|[^\n]+$/g;
/** Longer ones were not written by hand. */
const MAX_PIECE = 4000;
/** What comes after so many pieces is in one colour. */
const MAX_PIECES = 25;

/** Stands for what colours code on the other page, where it may grow, and whose grammars are larger than a whole exported page. */
export const useColoured = ({ text, language }: Code): readonly (readonly Token[])[] =>
  useMemo(
    () =>
      (text.match(LINES) ?? []).map((piece, at) =>
        at < MAX_PIECES && piece.length < MAX_PIECE && !PROSE.has(language)
          ? highlight(piece, language)
          : [{ text: piece, colour: undefined }],
      ),
    [text, language],
  );

/** Code in the colours of its language, as far as languages are alike. */
function highlight(text: string, language: string): readonly Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(HASHED.has(language) ? hashes : slashes)) {
    const colour = colours[match.slice(1, 4).findIndex((group) => group !== undefined)] ?? wordColour(match[0]);
    if (!colour) continue;
    tokens.push({ text: text.slice(end, match.index), colour: undefined }, { text: match[0], colour });
    end = match.index + match[0].length;
  }
  return [...tokens, { text: text.slice(end), colour: undefined }];
}

const wordColour = (word: string): Colour | undefined => (KEYWORDS.has(word) ? 'keyword' : undefined);
