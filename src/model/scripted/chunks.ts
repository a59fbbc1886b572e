/** Splits a text into words with their surrounding space. A text without words is one chunk. */
export const wordChunks = (text: string): readonly string[] => text.match(/(?:^\s+)?\S+\s*/g) ?? [text];

/** Splits a text into at most `count` chunks of nearly equal length, never inside a character. */
export function equalChunks(text: string, count: number): readonly string[] {
  if (count === 1) return [text];
  const characters = Array.from(text);
  const total = Math.max(1, Math.min(count, characters.length));
  const edge = (index: number) => Math.floor((index * characters.length) / total);
  return Array.from({ length: total }, (_, index) => characters.slice(edge(index), edge(index + 1)).join(''));
}

export function* repeatedChunks(text: string, times: number): Generator<string, void> {
  for (let done = 0; done < times; done += 1) yield text;
}
