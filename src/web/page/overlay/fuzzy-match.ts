/** Something that can be found by words. */
interface Findable {
  readonly group?: string | undefined;
  readonly words: string;
}

/** What fits what was typed, the best first; groups stay together. All of them when nothing was typed. */
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
 * How well a text fits what was typed, the more the better; undefined when it does not. Every word that was typed has to
 * be there, or at least its letters in order within a word. What stands together fits better, more so at the beginning of
 * a word, or of the text, and most when there is nothing else.
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

/** Letters that are spread more than this are there by chance. */
const MAX_SPREAD = 2;

/** At most 1: the less stands between the letters the better. */
function subsequenceScore(letters: string, text: string): number | undefined {
  const spans = text.split(/\s+/).flatMap((word) => spanOf(letters, word) ?? []);
  return spans.length > 0 ? letters.length / Math.min(...spans) : undefined;
}

/** How far the letters are spread in a word; undefined when they are not there in this order, or only by chance. */
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
