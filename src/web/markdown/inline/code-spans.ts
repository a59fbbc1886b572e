/** Finds the code between backticks of a text: as many of them at its end as at its beginning. */
export class CodeSpans {
  readonly #text: string;
  /** Where runs of each length begin, once somebody asks. */
  #runs: Map<number, number[]> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The span that begins here, and where it ends; only the end of the backticks when nothing closes them. */
  at(start: number): { readonly text: string; readonly end: number } | { readonly end: number } {
    const length = runAt(this.#text, start);
    const close = this.#next(length, start + length);
    if (close === undefined) return { end: start + length };
    const text = this.#text.slice(start + length, close).replaceAll('\n', ' ');
    const isPadded = text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '';
    return { text: isPadded ? text.slice(1, -1) : text, end: close + length };
  }

  #next(length: number, from: number): number | undefined {
    this.#runs ??= runsOf(this.#text);
    const starts = this.#runs.get(length) ?? [];
    while (starts.length > 0 && (starts.at(-1) ?? 0) < from) starts.pop();
    return starts.at(-1);
  }
}

/** By length, the last first: what was passed is dropped from the end. */
function runsOf(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const starts = runs.get(run.length);
    if (starts) starts.push(index);
    else runs.set(run.length, [index]);
  }
  for (const starts of runs.values()) starts.reverse();
  return runs;
}

function runAt(text: string, start: number): number {
  let end = start;
  while (text[end] === '`') end++;
  return end - start;
}
