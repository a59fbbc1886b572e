interface Autolink {
  readonly address: string;
  readonly shown: string;
  readonly length: number;
}

const BRACKETED = /<(?:((?:https?:\/\/|mailto:)[^\s<>]{1,2000})|([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}))>/iy;
// Ends before quotes, marks, and sentence ends of scripts without spaces.
const BARE = /(?:https?:\/\/|www\.)[^\s<>"'`*|\\[\]，。；：！？、（）「」『』【】《》]{1,2000}/y;

/** Parses an address in angle brackets. */
export function bracketedAutolinkAt(text: string, at: number): Autolink | undefined {
  BRACKETED.lastIndex = at;
  const [whole, address, email] = BRACKETED.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return { address: address ?? `mailto:${email}`, shown: address ?? email ?? '', length: whole.length };
}

/** Parses an address within a sentence, without trailing punctuation. */
export function bareAutolinkAt(text: string, at: number): Autolink | undefined {
  BARE.lastIndex = at;
  const shown = withoutTrailingPunctuation(BARE.exec(text)?.[0] ?? '');
  const hasNoScheme = shown.startsWith('www.');
  if (hasNoScheme && (/[\w.-]/.test(text[at - 1] ?? '') || !shown.slice(4).includes('.'))) return undefined;
  return { address: hasNoScheme ? `http://${shown}` : shown, shown, length: shown.length };
}

/** Only balanced parentheses belong to an address. */
function withoutTrailingPunctuation(address: string): string {
  let open = 0;
  for (const character of address) open += character === '(' ? 1 : character === ')' ? -1 : 0;
  let end = address.length;
  for (; end > 0; end--) {
    const last = address[end - 1] ?? '';
    if (last === ')' && open < 0) open++;
    else if (!'.,;:!?_~&'.includes(last)) break;
  }
  return address.slice(0, end);
}
