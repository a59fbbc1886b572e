const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  bull: '•',
  cent: '¢',
  check: '✓',
  copy: '©',
  darr: '↓',
  deg: '°',
  divide: '÷',
  euro: '€',
  ge: '≥',
  gt: '>',
  harr: '↔',
  hellip: '…',
  infin: '∞',
  laquo: '«',
  larr: '←',
  ldquo: '“',
  le: '≤',
  lsquo: '‘',
  lt: '<',
  mdash: '—',
  micro: 'µ',
  middot: '·',
  minus: '−',
  nbsp: '\u00a0',
  ndash: '–',
  ne: '≠',
  para: '¶',
  plusmn: '±',
  pound: '£',
  quot: '"',
  raquo: '»',
  rarr: '→',
  rdquo: '”',
  reg: '®',
  rsquo: '’',
  sect: '§',
  times: '×',
  trade: '™',
  uarr: '↑',
  yen: '¥',
};

const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/y;

/** Decodes the HTML entity at a position. */
export function entityAt(text: string, at: number): { readonly text: string; readonly length: number } | undefined {
  ENTITY.lastIndex = at;
  const [whole, decimal, hex, name = ''] = ENTITY.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const number = decimal ?? (hex === undefined ? undefined : `0x${hex}`);
  const character = number === undefined ? namedCharacter(name) : numberedCharacter(Number(number));
  return character === undefined ? undefined : { text: character, length: whole.length };
}

const namedCharacter = (name: string) => (Object.hasOwn(NAMED_ENTITIES, name) ? NAMED_ENTITIES[name] : undefined);

/** Entities of invisible characters stay as they are written. */
function numberedCharacter(code: number): string | undefined {
  if (code > 0x10ffff) return undefined;
  const character = String.fromCodePoint(code);
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/u.test(character) ? undefined : character;
}

/** Decodes entities and backslash escapes. */
export const unescapeMarkdown = (text: string): string =>
  text.replaceAll(/\\([!-/:-@[-`{-~])|&[#a-zA-Z\d]{1,9};/g, (written, character: string | undefined) =>
    character === undefined ? (entityAt(written, 0)?.text ?? written) : character,
  );
