// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
const ESCAPE = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/;
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]/u;
const ZERO_WIDTH = /^[\p{Mark}\p{Cc}\p{Cf}]+$/u;
const TAB_WIDTH = 3;

/** The number of terminal columns of a text. */
export function visibleWidth(text: string): number {
  return graphemesOf(text).reduce((width, grapheme) => width + widthOf(grapheme), 0);
}

/** Truncates a text to a width, with an ellipsis. */
export function truncateToWidth(text: string, maxWidth: number, ellipsis = '...', pad = false): string {
  const cut = visibleWidth(text) <= maxWidth ? text : headWithin(text, maxWidth, ellipsis);
  return pad ? cut + ' '.repeat(Math.max(0, maxWidth - visibleWidth(cut))) : cut;
}

/** Wraps a text to a width, between words if possible. */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => wrapParagraph(paragraph, Math.max(1, width)));
}

function wrapParagraph(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of paragraph.split(/(?<= )(?=[^ ])/)) {
    if (line !== '' && visibleWidth(line + word.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    for (const grapheme of graphemesOf(word)) {
      if (grapheme !== ' ' && visibleWidth(line + grapheme) > width) {
        lines.push(line);
        line = '';
      }
      line += grapheme;
    }
  }
  return [...lines, line.trimEnd()];
}

function headWithin(text: string, maxWidth: number, ellipsis: string): string {
  const room = maxWidth - visibleWidth(ellipsis);
  if (room < 0) return headWithin(ellipsis, maxWidth, '');
  let kept = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += widthOf(grapheme);
    if (width > room) break;
    kept += grapheme;
  }
  return kept + ellipsis;
}

// Graphemes and escape sequences.
function graphemesOf(text: string): string[] {
  const segmenter = new Intl.Segmenter();
  return text
    .split(new RegExp(`(${ESCAPE.source})`))
    .flatMap((part) => (ESCAPE.test(part) ? [part] : Array.from(segmenter.segment(part), ({ segment }) => segment)));
}

function widthOf(grapheme: string): number {
  if (grapheme === '\t') return TAB_WIDTH;
  if (ESCAPE.test(grapheme) || ZERO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) || grapheme.includes('\uFE0F') ? 2 : 1;
}

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
