interface Address {
  readonly address: string;
  readonly shown: string;
  /** Of what was read. */
  readonly length: number;
}

const POINTED = /<(?:((?:https?:\/\/|mailto:)[^\s<>]{1,2000})|([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}))>/iy;
/** Ends before quotes, marks, and what ends a sentence in scripts that need no space behind it. */
const BARE = /(?:https?:\/\/|www\.)[^\s<>"'`*|\\[\]，。；：！？、（）「」『』【】《》]{1,2000}/y;

/** An address in angle brackets. */
export function pointedAddressAt(text: string, at: number): Address | undefined {
  POINTED.lastIndex = at;
  const [whole, address, letter] = POINTED.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return { address: address ?? `mailto:${letter}`, shown: address ?? letter ?? '', length: whole.length };
}

/** An address that stands in a sentence, without what ends the sentence. */
export function bareAddressAt(text: string, at: number): Address | undefined {
  BARE.lastIndex = at;
  const shown = withoutTail(BARE.exec(text)?.[0] ?? '');
  const isNamed = shown.startsWith('www.');
  if (isNamed && (/[\w.-]/.test(text[at - 1] ?? '') || !shown.slice(4).includes('.'))) return undefined;
  return { address: isNamed ? `http://${shown}` : shown, shown, length: shown.length };
}

/** A parenthesis belongs to an address only when both halves of it do. */
function withoutTail(address: string): string {
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
