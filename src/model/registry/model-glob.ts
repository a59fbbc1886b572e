// A character of a pattern; with `repeats`, any number of them.
interface Token {
  readonly matches: (character: string) => boolean;
  readonly repeats?: boolean;
}

const notSlash = (character: string) => character !== '/';

export const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern);

/**
 * Compiles a pattern for names such as `provider/id`, ignoring case. `*` and `?` stop at a `/`, `**` does not, `[a-z]`
 * and `[!a-z]` match one character. Matching takes at most pattern length times name length.
 */
export function modelGlob(pattern: string): (name: string) => boolean {
  const tokens = [...pattern.toLowerCase().matchAll(/\*+|\?|\[([!^]?)(\]?[^\]]*)\]|./gsu)].map(tokenOf);
  return (name) => matchesTokens(tokens, name.toLowerCase());
}

function tokenOf([source, negation, members]: RegExpExecArray): Token {
  if (source === '*') return { matches: notSlash, repeats: true };
  if (source.startsWith('**')) return { matches: () => true, repeats: true };
  if (source === '?') return { matches: notSlash };
  if (members === undefined) return { matches: (character) => character === source };
  const ranges = [...members.matchAll(/(.)-(.)|./gsu)].map(([whole, from = whole, to = whole]) => ({ from, to }));
  const isMember = (character: string) => ranges.some(({ from, to }) => from <= character && character <= to);
  return { matches: (character) => notSlash(character) && isMember(character) === (negation === '') };
}

// Follows all readings of the pattern at once.
function matchesTokens(tokens: readonly Token[], name: string): boolean {
  let positions = withSkips([0], tokens);
  for (const character of name) {
    const next = [...positions].flatMap((position) => {
      const token = tokens[position];
      if (!token?.matches(character)) return [];
      return [token.repeats ? position : position + 1];
    });
    positions = withSkips(next, tokens);
  }
  return positions.has(tokens.length);
}

// Adds the positions after wildcards, which may match nothing.
function withSkips(positions: readonly number[], tokens: readonly Token[]): ReadonlySet<number> {
  const all = new Set(positions);
  for (const position of all) if (tokens[position]?.repeats) all.add(position + 1);
  return all;
}
