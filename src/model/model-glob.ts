/** One character of a pattern, or with `repeats` any number of them. */
interface Token {
  readonly takes: (character: string) => boolean;
  readonly repeats?: boolean;
}

const notSlash = (character: string) => character !== '/';

export const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern);

/**
 * A test for names such as `provider/id`, whatever their letter case: `*` and `?` stop at a `/`, `**` does not, `[a-z]` and
 * `[!a-z]` stand for one character. No pattern takes longer than its length times that of the name.
 */
export function modelGlob(pattern: string): (name: string) => boolean {
  const tokens = [...pattern.toLowerCase().matchAll(/\*+|\?|\[([!^]?)(\]?[^\]]*)\]|./gsu)].map(tokenOf);
  return (name) => fits(tokens, name.toLowerCase());
}

function tokenOf([taken, negation, members]: RegExpExecArray): Token {
  if (taken === '*') return { takes: notSlash, repeats: true };
  if (taken.startsWith('**')) return { takes: () => true, repeats: true };
  if (taken === '?') return { takes: notSlash };
  if (members === undefined) return { takes: (character) => character === taken };
  const ranges = [...members.matchAll(/(.)-(.)|./gsu)].map(([one, from = one, to = one]) => ({ from, to }));
  const isMember = (character: string) => ranges.some(({ from, to }) => from <= character && character <= to);
  return { takes: (character) => notSlash(character) && isMember(character) === (negation === '') };
}

/** Follows every way to read the pattern at once. */
function fits(tokens: readonly Token[], name: string): boolean {
  let places = withSkips([0], tokens);
  for (const character of name) {
    const next = [...places].flatMap((place) => {
      const token = tokens[place];
      if (!token?.takes(character)) return [];
      return [token.repeats ? place : place + 1];
    });
    places = withSkips(next, tokens);
  }
  return places.has(tokens.length);
}

/** With the places behind wildcards, which may stand for nothing. */
function withSkips(places: readonly number[], tokens: readonly Token[]): ReadonlySet<number> {
  const all = new Set(places);
  for (const place of all) if (tokens[place]?.repeats) all.add(place + 1);
  return all;
}
