import { inCommon } from './in-common.ts';

/** A part of a line, and whether it came or went with the change. */
export interface Part {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Two texts line by line, each line in parts. */
interface WordDiff {
  readonly before: readonly (readonly Part[])[];
  readonly after: readonly (readonly Part[])[];
}

/** Texts that have less in common are different texts: to mark what they share would say nothing. */
const ALIKE = 0.6;

const WORDS = /\n|[^\S\n]+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

/** What changed within some lines; undefined when they are too long, or have too little in common. */
export function wordDiff(before: string, after: string): WordDiff | undefined {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const common = inCommon(old, now);
  if (!common) return undefined;
  const kept = lettersIn(old.filter((_, index) => common.before[index]));
  if (kept < ALIKE * Math.max(lettersIn(old), lettersIn(now))) return undefined;
  return { before: linesOf(old, common.before), after: linesOf(now, common.after) };
}

const wordsOf = (text: string): string[] => text.match(WORDS) ?? [];

const lettersIn = (words: readonly string[]) => words.reduce((sum, word) => sum + word.trim().length, 0);

function linesOf(words: readonly string[], isCommon: readonly boolean[]): Part[][] {
  const lines: { text: string; isChanged: boolean }[][] = [[]];
  for (const [index, word] of words.entries()) {
    const line = lines.at(-1) ?? [];
    const isChanged = !(isCommon[index] ?? false) || isGap(words, isCommon, index);
    const last = line.at(-1);
    if (word === '\n') lines.push([]);
    else if (last?.isChanged === isChanged) last.text += word;
    else line.push({ text: word, isChanged });
  }
  return lines;
}

/** What is blank between two words that changed belongs to the change. */
const isGap = (words: readonly string[], isCommon: readonly boolean[], index: number) =>
  words[index]?.trim() === '' && isCommon[index - 1] === false && isCommon[index + 1] === false;
