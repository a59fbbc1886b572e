import { commonSubsequence } from './common-subsequence.ts';
import type { DiffLine } from './diff-lines.ts';

// A part of a line, and whether it changed.
export interface DiffPart {
  readonly text: string;
  readonly isChanged: boolean;
}

interface WordDiff {
  readonly before: readonly (readonly DiffPart[])[];
  readonly after: readonly (readonly DiffPart[])[];
}

// Texts with a smaller common share are not compared by word.
const MIN_COMMON = 0.6;

const WORDS = /\n|[^\S\n]+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

/** Marks the changed words of two texts; undefined if they are too long or differ too much. */
export function wordDiff(before: string, after: string): WordDiff | undefined {
  const [old, now] = [splitWords(before), splitWords(after)];
  const common = commonSubsequence(old, now);
  if (!common) return undefined;
  const kept = countCharacters(old.filter((_, index) => common.before[index]));
  if (kept < MIN_COMMON * Math.max(countCharacters(old), countCharacters(now))) return undefined;
  return { before: linesOf(old, common.before), after: linesOf(now, common.after) };
}

const splitWords = (text: string): string[] => text.match(WORDS) ?? [];

const countCharacters = (words: readonly string[]) => words.reduce((sum, word) => sum + word.trim().length, 0);

function linesOf(words: readonly string[], isCommon: readonly boolean[]): DiffPart[][] {
  const lines: { text: string; isChanged: boolean }[][] = [[]];
  for (const [index, word] of words.entries()) {
    const line = lines.at(-1) ?? [];
    const isChanged = !(isCommon[index] ?? false) || isBlankInChange(words, isCommon, index);
    const last = line.at(-1);
    if (word === '\n') lines.push([]);
    else if (last?.isChanged === isChanged) last.text += word;
    else line.push({ text: word, isChanged });
  }
  return lines;
}

/** Blanks between two changed words count as changed. */
const isBlankInChange = (words: readonly string[], isCommon: readonly boolean[], index: number) =>
  words[index]?.trim() === '' && isCommon[index - 1] === false && isCommon[index + 1] === false;

export interface MarkedLine extends DiffLine {
  readonly parts: readonly DiffPart[] | undefined;
}

/** Compares removed lines by word with the added lines that follow them. */
export function markChangedWords(lines: readonly DiffLine[]): MarkedLine[] {
  const marked: MarkedLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, 'removed');
    const added = runOf(lines, at + removed.length, 'added');
    const words = removed.length > 0 && added.length > 0 ? wordDiff(joined(removed), joined(added)) : undefined;
    for (const [index, line] of removed.entries()) marked.push({ ...line, parts: words?.before[index] });
    for (const [index, line] of added.entries()) marked.push({ ...line, parts: words?.after[index] });
    at += removed.length + added.length;
    const next = lines[at];
    if (next && next.kind !== 'removed' && next.kind !== 'added') {
      marked.push({ ...next, parts: undefined });
      at++;
    }
  }
  return marked;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): readonly DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(from, end);
}

const joined = (lines: readonly DiffLine[]) => lines.map(({ text }) => text).join('\n');
