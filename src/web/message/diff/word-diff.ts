import { commonSubsequence } from './common-subsequence.ts';

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
