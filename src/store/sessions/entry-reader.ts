import type { SessionEntry } from '../../protocol/generated/vocabulary.ts';
import type { EntryIndex, Span } from './indexing/entry-index.ts';
import { parseObject } from './indexing/line-facts.ts';
import type { Lines } from './lines.ts';

/** Where the lines of a session are and what is known of them. */
interface IndexedLines {
  readonly lines: Pick<Lines, 'size' | 'read'>;
  readonly index: EntryIndex;
}

const READ_AHEAD = 64 * 1024;
const SEARCH_BLOCK = 64 * 1024;

/** Reads one entry, and nothing but its line; undefined when the line turns out to be broken. */
export function readEntry({ lines, index }: IndexedLines, row: number): SessionEntry | undefined {
  const { offset, length } = index.span(row);
  return parseEntry(lines.read(offset, length).toString(), index.id(row));
}

/** Reads many entries, neighbours in one go. Broken lines are left out. */
export function* readEntries({ lines, index }: IndexedLines, rows: Iterable<number>): Generator<SessionEntry> {
  let window: { readonly offset: number; readonly bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };
  for (const row of rows) {
    const { offset, length } = index.span(row);
    if (offset < window.offset || offset + length > window.offset + window.bytes.length) {
      window = { offset, bytes: lines.read(offset, Math.max(length, Math.min(READ_AHEAD, lines.size - offset))) };
    }
    const start = offset - window.offset;
    const entry = parseEntry(window.bytes.toString('utf8', start, start + length), index.id(row));
    if (entry) yield entry;
  }
}

/** The rows whose lines contain these bytes, in the order of the file. */
export function* searchRows({ lines, index }: IndexedLines, text: string): Generator<number> {
  const needle = Buffer.from(text);
  const end = lines.size;
  for (let position = 0; position + needle.length <= end && needle.length > 0; ) {
    const block = lines.read(position, Math.min(SEARCH_BLOCK + needle.length, end - position));
    const next = yield* rowsInBlock({ block, position, needle, index });
    // Blocks overlap, so that text across their border is found; a line that was a hit is not looked at again.
    position = Math.max(next, position + block.length - needle.length + 1);
  }
}

interface BlockSearch {
  readonly block: Buffer;
  readonly position: number;
  readonly needle: Buffer;
  readonly index: EntryIndex;
}

/** Yields the hits of one block and returns where the last of their lines ends. */
function* rowsInBlock({ block, position, needle, index }: BlockSearch): Generator<number, number> {
  let from = 0;
  for (let hit = block.indexOf(needle); hit !== -1; hit = block.indexOf(needle, from)) {
    const row = index.rowAt(position + hit);
    if (row === undefined) {
      from = hit + 1;
      continue;
    }
    yield row;
    from = endOf(index.span(row)) - position;
  }
  return position + from;
}

const endOf = ({ offset, length }: Span) => offset + length;

/** An entry under another id than the index has for it is no entry: the middle of a line is not looked at by the index. */
function parseEntry(line: string, id: string): SessionEntry | undefined {
  const value = parseObject(line);
  if (value?.['id'] !== id) return undefined;
  if (value['type'] !== 'message') return value as unknown as SessionEntry;
  const message = normalizeMessage(value['message']);
  return message && ({ ...value, message } as unknown as SessionEntry);
}

/**
 * A message that everybody can read: what lacks a content of its kind has an empty one. Without a role it says nothing
 * that anybody could use.
 */
function normalizeMessage(message: unknown): object | undefined {
  if (!isObject(message) || typeof message['role'] !== 'string') return undefined;
  const { role, content } = message;
  if (role === 'bashExecution') return { command: '', output: '', ...message };
  if (role !== 'user' && role !== 'assistant' && role !== 'toolResult') return message;
  if (role === 'user' && typeof content === 'string') return message;
  if (Array.isArray(content) && content.every(isObject)) return message;
  return { ...message, content: Array.isArray(content) ? content.filter(isObject) : [] };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
