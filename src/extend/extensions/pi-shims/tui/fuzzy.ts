/** True if the text contains all letters of the query in order; a lower score is better. */
export function fuzzyMatch(query: string, text: string): { matches: boolean; score: number } {
  let at = 0;
  let score = 0;
  const subject = text.toLowerCase();
  for (const letter of query.toLowerCase()) {
    const found = subject.indexOf(letter, at);
    if (found === -1) return { matches: false, score: 0 };
    score += found - at;
    at = found + letter.length;
  }
  return { matches: true, score };
}

/** The items that match a query, the best first. */
export function fuzzyFilter<T>(items: readonly T[], query: string, textOf: (item: T) => string): T[] {
  const words = query.split(/\s+/).filter(Boolean);
  return items
    .map((item) => ({ item, found: words.map((word) => fuzzyMatch(word, textOf(item))) }))
    .filter(({ found }) => found.every(({ matches }) => matches))
    .map(({ item, found }) => ({ item, score: found.reduce((sum, { score }) => sum + score, 0) }))
    .sort((a, b) => a.score - b.score)
    .map(({ item }) => item);
}
