import type { Colour, Highlight, Token } from '../code/token.ts';

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

/** Stands for the highlighter of the other page, whose grammars are larger than a whole exported page. */
export const highlighter = (): Highlight => highlight;

/** Code in the colours of its language, as far as languages are alike. */
const highlight: Highlight = (text, language) => {
  if (PROSE.has(language)) return undefined;
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(HASHED.has(language) ? hashes : slashes)) {
    const colour = colours[match.slice(1, 4).findIndex((group) => group !== undefined)] ?? wordColour(match[0]);
    if (!colour) continue;
    tokens.push({ text: text.slice(end, match.index), colour: undefined }, { text: match[0], colour });
    end = match.index + match[0].length;
  }
  return { tokens: [...tokens, { text: text.slice(end), colour: undefined }], isAtRest: true, isSlow: false };
};

const wordColour = (word: string): Colour | undefined => (KEYWORDS.has(word) ? 'keyword' : undefined);
