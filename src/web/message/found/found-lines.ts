import { type Fields, textOf } from '../../fields.ts';
import { oneLine } from '../../words.ts';

/** A line of a file that a search shows. */
export interface FoundLine {
  readonly number: number;
  readonly text: string;
  /** Otherwise it is shown for the sake of one beside it. */
  readonly isMatch: boolean;
}

/** What was found in one file. */
export interface FoundFile {
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

/** Names may hold numbers between the same signs; what was found stands behind a blank. */
const FOUND = /^(.+?)([:-])(\d+)\2(?: (.*)|)$/s;

/** What grep found, by file; undefined when that cannot be told from what it said. */
export function foundIn(output: string): FoundFile[] | undefined {
  const files: { path: string; lines: FoundLine[] }[] = [];
  for (const line of output.split('\n')) {
    // Between places that are far from each other.
    if (line === '--' || line === '') continue;
    const [, path, sign, number, text = ''] = FOUND.exec(line) ?? [];
    if (path === undefined) return undefined;
    if (files.at(-1)?.path !== path) files.push({ path, lines: [] });
    files.at(-1)?.lines.push({ number: Number(number), text, isMatch: sign === ':' });
  }
  return files.length > 0 ? files : undefined;
}

const PLAIN = /^(?:[^\\^$.*+?()[\]{}]|\\[^\w\s]|\\b)+$/;

/** The texts that a pattern can only mean, if it is as simple as that; others are never run in a page. */
export function plainPatterns(pattern: string, { isLiteral }: { readonly isLiteral: boolean }): string[] {
  if (isLiteral) return pattern === '' ? [] : [pattern];
  const choices = pattern.split('|');
  if (!choices.every((choice) => PLAIN.test(choice))) return [];
  return choices.map(unescaped).filter((text) => text !== '');
}

const unescaped = (choice: string) => choice.replaceAll(/\\(.)/g, (_, letter) => (letter === 'b' ? '' : letter));

/** A part of a line, and whether it was searched for. */
export interface SearchedPart {
  readonly text: string;
  readonly isFound: boolean;
}

/** Where the texts stand in a line. */
export function searchedParts(
  line: string,
  texts: readonly string[],
  { ignoresCase }: { readonly ignoresCase: boolean },
): SearchedPart[] {
  const folded = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  const searched = folded(line);
  // A letter may be longer in lower case: then nobody knows where it stands.
  const wanted = searched.length === line.length ? texts.map(folded) : [];
  const parts: SearchedPart[] = [];
  let from = 0;
  for (let hit = nextIn(searched, wanted, from); hit; hit = nextIn(searched, wanted, from)) {
    if (hit.at > from) parts.push({ text: line.slice(from, hit.at), isFound: false });
    parts.push({ text: line.slice(hit.at, hit.end), isFound: true });
    from = hit.end;
  }
  return from < line.length || parts.length === 0 ? [...parts, { text: line.slice(from), isFound: false }] : parts;
}

/** The first of the texts from somewhere on, and the longest of those that begin there. */
function nextIn(line: string, texts: readonly string[], from: number) {
  let best: { at: number; end: number } | undefined;
  for (const text of texts) {
    const at = line.indexOf(text, from);
    const end = at + text.length;
    if (at !== -1 && (!best || at < best.at || (at === best.at && end > best.end))) best = { at, end };
  }
  return best;
}

/** What was searched for, and where. */
export function searched({ pattern, path, glob }: Fields): string {
  const where = [path, glob].map(textOf).filter(Boolean);
  return oneLine([textOf(pattern), ...(where.length > 0 ? ['in', ...where] : [])].join(' '), 200);
}
