import { element } from '../element.ts';
import { plainText } from './plain-text.ts';

export { languageOf } from './language-of.ts';

/** Longer code stays in one colour. */
const MAX_LENGTH = 30_000;

const C_LIKE = new Set(
  'c cc cpp h hpp cs go java js javascript jsx json jsonc json5 kotlin kt php rs rust scala swift ts typescript tsx css scss less dart zig'.split(
    ' ',
  ),
);
const HASHED = new Set(
  'sh bash shell zsh console fish py python rb ruby yaml yml toml ini conf dockerfile make makefile perl pl r elixir ex nix'.split(
    ' ',
  ),
);

const KEYWORDS = new Set(
  `abstract and as async await bool boolean break case catch char class const continue def default defer delete do double elif
  else enum export extends extern false final finally float fn for from func function global go if impl implements import in
  instanceof int interface is lambda let long loop match mod module mut new nil None not null or package pass private protected
  pub public raise readonly return self static string struct super switch then this throw trait true True False try type typeof
  undefined union unsafe use using val var void volatile when where while with yield esac fi done local echo`.split(
    /\s+/,
  ),
);

const STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\x60(?:\\[\s\S]|[^\x60\\])*\x60`;
const NUMBER = String.raw`\b0[xX][\da-fA-F]+\b|\b\d+(?:\.\d+)?\b`;
const patternWith = (comment: string) => new RegExp(`(${comment})|(${STRING})|(${NUMBER})|([A-Za-z_]\\w*)`, 'g');

const slashes = patternWith(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const hashes = patternWith(String.raw`(?<![\w$])#[^\n]*`);
const names = ['comment', 'string', 'number'] as const;

/** Code in the colours of its language, as far as languages are alike. */
export function highlight(code: string, language: string): (Node | string)[] {
  const pattern = C_LIKE.has(language) ? slashes : HASHED.has(language) ? hashes : undefined;
  if (!pattern || code.length > MAX_LENGTH) return plainText(code);
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const colour = names[match.slice(1, 4).findIndex((group) => group !== undefined)] ?? wordColour(match[0]);
    if (!colour) continue;
    parts.push(...plainText(code.slice(end, match.index)));
    parts.push(element('span', { class: `code-${colour}` }, ...plainText(match[0])));
    end = match.index + match[0].length;
  }
  return [...parts, ...plainText(code.slice(end))];
}

const wordColour = (word: string) => (KEYWORDS.has(word) ? 'keyword' : undefined);
