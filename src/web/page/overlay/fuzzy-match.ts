interface Findable {
  readonly group?: string | undefined;
  readonly words: string;
}

/** Returns the items that match the query, best first, with groups kept together; all items for an empty query. */
export function fuzzyFilter<T extends Findable>(query: string, items: readonly T[]): readonly T[] {
  if (query.trim() === '') return items;
  const rated = items.flatMap((item) => {
    const score = fuzzyScore(query, item.words);
    return score === undefined ? [] : { item, score };
  });
  const best = new Map<string | undefined, number>();
  for (const { item, score } of rated) best.set(item.group, Math.max(score, best.get(item.group) ?? 0));
  const groups = [...best].sort(([, one], [, other]) => other - one).map(([group]) => group);
  const rank = new Map(groups.map((group, index) => [group, index]));
  const rankOf = ({ group }: T) => rank.get(group) ?? 0;
  return rated
    .sort((one, other) => rankOf(one.item) - rankOf(other.item) || other.score - one.score)
    .map(({ item }) => item);
}

/**
 * Scores a text against a query; undefined without a match. Every word must occur, or its letters in order within a
 * word. Substrings score higher, more so at the start of a word or of the text, and most as the whole text.
 */
export function fuzzyScore(query: string, text: string): number | undefined {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  let total = 0;
  for (const word of words) {
    const score = substringScore(word, lower) ?? subsequenceScore(word, lower);
    if (score === undefined) return undefined;
    total += score;
  }
  return total;
}

function substringScore(word: string, text: string): number | undefined {
  const first = text.indexOf(word);
  if (first < 0) return undefined;
  if (first === 0) return word.length === text.length ? 5 : 4;
  for (let at = first; at >= 0; at = text.indexOf(word, at + 1)) if (isWordStart(text, at)) return 3;
  return 2;
}

// Letters spread wider match by chance.
const MAX_SPREAD = 2;

/** At most 1: fewer characters between the letters score higher. */
function subsequenceScore(letters: string, text: string): number | undefined {
  const spans = text.split(/\s+/).flatMap((word) => spanOf(letters, word) ?? []);
  return spans.length > 0 ? letters.length / Math.min(...spans) : undefined;
}

/** Returns the span of the letters in a word; undefined when they do not occur in order or spread too wide. */
function spanOf(letters: string, word: string): number | undefined {
  let at = -1;
  let start = -1;
  for (const letter of letters) {
    at = word.indexOf(letter, at + 1);
    if (at < 0) return undefined;
    if (start < 0) start = at;
  }
  const span = at - start + 1;
  return span <= letters.length * MAX_SPREAD + 1 ? span : undefined;
}

const isWordStart = (text: string, at: number) => !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
