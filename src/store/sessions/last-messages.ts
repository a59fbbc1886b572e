import { closeSync, openSync } from 'node:fs';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { readEntries } from './entry-reader.ts';
import { EntryIndex } from './indexing/entry-index.ts';
import { scan } from './indexing/scan.ts';
import { readAt } from './read-at.ts';

/** The last messages of a session, read without its lock. */
export function lastMessages(path: string, count: number): AgentMessage[] {
  const fd = openSync(path, 'r');
  try {
    const index = new EntryIndex();
    let leaf: number | undefined;
    const { end } = scan(fd, (facts, span) => {
      leaf = index.add(facts, span);
      return undefined;
    });
    index.resolve();
    const rows = [...index.rowsOfKind(leaf, ['message'])].slice(0, count).reverse();
    const read = (position: number, length: number) => readAt(fd, position, length);
    return [...readEntries({ lines: { size: end, read }, index }, rows)].flatMap((entry) =>
      entry.type === 'message' ? [entry.message] : [],
    );
  } finally {
    closeSync(fd);
  }
}
