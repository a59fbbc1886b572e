/** Cuts a text into words, each with the space around it. A text without words is one piece. */
export const wordChunks = (text: string): readonly string[] => text.match(/(?:^\s+)?\S+\s*/g) ?? [text];

/** Cuts a text into `count` pieces of nearly equal length, fewer if it is too short, never inside a character. */
export function equalChunks(text: string, count: number): readonly string[] {
  if (count === 1) return [text];
  const characters = Array.from(text);
  const total = Math.max(1, Math.min(count, characters.length));
  const edge = (index: number) => Math.floor((index * characters.length) / total);
  return Array.from({ length: total }, (_, index) => characters.slice(edge(index), edge(index + 1)).join(''));
}

/** The same text a number of times, made as it is asked for. */
export function* repeatedChunks(text: string, times: number): Generator<string, void> {
  for (let done = 0; done < times; done += 1) yield text;
}
