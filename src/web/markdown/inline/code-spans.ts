/** Finds code spans: text between two backtick runs of equal length. */
export class CodeSpans {
  readonly #text: string;
  /** Start positions by run length, computed on first use. */
  #runs: Map<number, number[]> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The span that starts here; without a closing run, only the end of the opening one. */
  at(start: number): { readonly text: string; readonly end: number } | { readonly end: number } {
    const length = runLength(this.#text, start);
    const close = this.#next(length, start + length);
    if (close === undefined) return { end: start + length };
    const text = this.#text.slice(start + length, close).replaceAll('\n', ' ');
    const isPadded = text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '';
    return { text: isPadded ? text.slice(1, -1) : text, end: close + length };
  }

  #next(length: number, from: number): number | undefined {
    this.#runs ??= backtickRuns(this.#text);
    const starts = this.#runs.get(length) ?? [];
    while (starts.length > 0 && (starts.at(-1) ?? 0) < from) starts.pop();
    return starts.at(-1);
  }
}

/** Positions by length in descending order: consumed ones are popped. */
function backtickRuns(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const starts = runs.get(run.length);
    if (starts) starts.push(index);
    else runs.set(run.length, [index]);
  }
  for (const starts of runs.values()) starts.reverse();
  return runs;
}

function runLength(text: string, start: number): number {
  let end = start;
  while (text[end] === '`') end++;
  return end - start;
}
