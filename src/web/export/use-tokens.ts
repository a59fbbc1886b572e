import { useMemo } from 'preact/hooks';
import type { CodeToken, SourceCode, TokenColour } from '../code/token.ts';

// Languages with `#` comments.
const HASH_COMMENT_LANGUAGES = new Set(
  'sh bash shell zsh console fish py python rb ruby yaml yml toml ini conf dockerfile make makefile perl pl r elixir ex nix'.split(
    ' ',
  ),
);
// Languages that are not highlighted.
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

const slashCommentPattern = patternWith(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const hashCommentPattern = patternWith(String.raw`(?<![\w$])#[^\n]*`);
const colours = ['comment', 'string', 'number'] as const;

// Pieces of 40 lines; an unclosed string or comment ends with its piece.
const PIECE = /(?:[^\n]*\n){1,40}|[^\n]+$/g;
// Longer pieces are generated code.
const MAX_PIECE_CHARACTERS = 4000;
// Pieces after these stay in one colour.
const MAX_PIECES = 25;

/** Replaces `code/use-tokens.ts` in exported pages, with one small tokenizer for all languages. */
export const useTokens = ({ text, language }: SourceCode): readonly (readonly CodeToken[])[] =>
  useMemo(
    () =>
      (text.match(PIECE) ?? []).map((piece, at) =>
        at < MAX_PIECES && piece.length < MAX_PIECE_CHARACTERS && !PROSE.has(language)
          ? tokenize(piece, language)
          : [{ text: piece, colour: undefined }],
      ),
    [text, language],
  );

/** Finds comments, strings, numbers and keywords that most languages share. */
function tokenize(text: string, language: string): readonly CodeToken[] {
  const tokens: CodeToken[] = [];
  let end = 0;
  for (const match of text.matchAll(HASH_COMMENT_LANGUAGES.has(language) ? hashCommentPattern : slashCommentPattern)) {
    const colour = colours[match.slice(1, 4).findIndex((group) => group !== undefined)] ?? wordColour(match[0]);
    if (!colour) continue;
    tokens.push({ text: text.slice(end, match.index), colour: undefined }, { text: match[0], colour });
    end = match.index + match[0].length;
  }
  return [...tokens, { text: text.slice(end), colour: undefined }];
}

const wordColour = (word: string): TokenColour | undefined => (KEYWORDS.has(word) ? 'keyword' : undefined);
