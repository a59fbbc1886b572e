import { oneLine } from '../../format.ts';
import { asText, type Untyped } from '../../untyped.ts';

export interface GrepLine {
  readonly number: number;
  readonly text: string;
  // Otherwise it is a context line.
  readonly isMatch: boolean;
}

export interface GrepFile {
  readonly path: string;
  readonly lines: readonly GrepLine[];
}

// File names may contain the separators; a space follows the real one.
const OUTPUT_LINE = /^(.+?)([:-])(\d+)\2(?: (.*)|)$/s;

/** Parses the output of grep by file; undefined for any other format. */
export function parseGrepOutput(output: string): GrepFile[] | undefined {
  const files: { path: string; lines: GrepLine[] }[] = [];
  for (const line of output.split('\n')) {
    // Separates distant groups.
    if (line === '--' || line === '') continue;
    const [, path, sign, number, text = ''] = OUTPUT_LINE.exec(line) ?? [];
    if (path === undefined) return undefined;
    if (files.at(-1)?.path !== path) files.push({ path, lines: [] });
    files.at(-1)?.lines.push({ number: Number(number), text, isMatch: sign === ':' });
  }
  return files.length > 0 ? files : undefined;
}

const PLAIN = /^(?:[^\\^$.*+?()[\]{}]|\\[^\w\s]|\\b)+$/;

/** The literal texts of a simple pattern. Other patterns are never run in a page. */
export function plainPatterns(pattern: string, { isLiteral }: { readonly isLiteral: boolean }): string[] {
  if (isLiteral) return pattern === '' ? [] : [pattern];
  const choices = pattern.split('|');
  if (!choices.every((choice) => PLAIN.test(choice))) return [];
  return choices.map(unescapePattern).filter((text) => text !== '');
}

const unescapePattern = (choice: string) => choice.replaceAll(/\\(.)/g, (_, letter) => (letter === 'b' ? '' : letter));

export interface MatchPart {
  readonly text: string;
  readonly isFound: boolean;
}

/** Splits a line at its matches. */
export function matchParts(
  line: string,
  texts: readonly string[],
  { ignoresCase }: { readonly ignoresCase: boolean },
): MatchPart[] {
  const foldCase = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  const foldedLine = foldCase(line);
  // If lower case changes the length, positions are unknown.
  const foldedTexts = foldedLine.length === line.length ? texts.map(foldCase) : [];
  const parts: MatchPart[] = [];
  let from = 0;
  for (let hit = nextMatch(foldedLine, foldedTexts, from); hit; hit = nextMatch(foldedLine, foldedTexts, from)) {
    if (hit.at > from) parts.push({ text: line.slice(from, hit.at), isFound: false });
    parts.push({ text: line.slice(hit.at, hit.end), isFound: true });
    from = hit.end;
  }
  return from < line.length || parts.length === 0 ? [...parts, { text: line.slice(from), isFound: false }] : parts;
}

/** The first match from a position on; the longest of several. */
function nextMatch(line: string, texts: readonly string[], from: number) {
  let best: { at: number; end: number } | undefined;
  for (const text of texts) {
    const at = line.indexOf(text, from);
    const end = at + text.length;
    if (at !== -1 && (!best || at < best.at || (at === best.at && end > best.end))) best = { at, end };
  }
  return best;
}

/** The pattern and location of a search in one line. */
export function searchSummary({ pattern, path, glob }: Untyped): string {
  const where = [path, glob].map(asText).filter(Boolean);
  return oneLine([asText(pattern), ...(where.length > 0 ? ['in', ...where] : [])].join(' '), 200);
}
