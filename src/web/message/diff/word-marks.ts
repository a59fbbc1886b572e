import type { DiffLine } from './diff-lines.ts';
import { type DiffPart, wordDiff } from './word-diff.ts';

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
