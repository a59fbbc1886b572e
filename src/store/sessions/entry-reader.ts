import { closeSync, openSync, readSync } from 'node:fs';
import type { AgentMessage, SessionEntry } from '../../protocol/generated/vocabulary.ts';
import { EntryIndex, type Span } from './indexing/entry-index.ts';
import { parseObject } from './indexing/line-facts.ts';
import { scan } from './indexing/scan.ts';
import type { Lines } from './lines.ts';
import { storedUsage } from './stored-usage.ts';

// The lines of a session and their index.
interface IndexedLines {
  readonly lines: Pick<Lines, 'size' | 'read'>;
  readonly index: EntryIndex;
}

const READ_AHEAD = 64 * 1024;
const SEARCH_BLOCK = 64 * 1024;

/** Reads one entry and only its line; undefined for a malformed line. */
export function readEntry({ lines, index }: IndexedLines, row: number): SessionEntry | undefined {
  const { offset, length } = index.span(row);
  return parseEntry(lines.read(offset, length).toString(), index.id(row));
}

/** Reads many entries, neighbours with one read. Malformed lines are omitted. */
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

/** The rows whose lines contain this text, in file order. */
export function* searchRows({ lines, index }: IndexedLines, text: string): Generator<number> {
  const needle = Buffer.from(text);
  const end = lines.size;
  for (let position = 0; position + needle.length <= end && needle.length > 0; ) {
    const block = lines.read(position, Math.min(SEARCH_BLOCK + needle.length, end - position));
    const next = yield* rowsInBlock({ block, position, needle, index });
    // Blocks overlap, so that text across their border is found; a line with a hit is not searched again.
    position = Math.max(next, position + block.length - needle.length + 1);
  }
}

interface BlockSearch {
  readonly block: Buffer;
  readonly position: number;
  readonly needle: Buffer;
  readonly index: EntryIndex;
}

/** Yields the hits in one block and returns the end of the last line with a hit. */
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

/** A line with another id than its index row is malformed: the index does not read the middle of a line. */
function parseEntry(line: string, id: string): SessionEntry | undefined {
  const value = parseObject(line);
  if (value?.['id'] !== id) return undefined;
  if (value['type'] !== 'message') return value as unknown as SessionEntry;
  const message = normalizeMessage(value['message']);
  return message && ({ ...value, message } as unknown as SessionEntry);
}

/** Replaces missing or malformed content and usage by empty ones; undefined for a message without a role. */
function normalizeMessage(stored: unknown): object | undefined {
  if (!isObject(stored) || typeof stored['role'] !== 'string') return undefined;
  const message = stored['role'] === 'assistant' ? withUsage(stored) : stored;
  const { role, content } = message;
  if (role === 'bashExecution') return { command: '', output: '', ...message };
  if (role !== 'user' && role !== 'assistant' && role !== 'toolResult') return message;
  if (role === 'user' && typeof content === 'string') return message;
  if (Array.isArray(content) && content.every(isObject)) return message;
  return { ...message, content: Array.isArray(content) ? content.filter(isObject) : [] };
}

function withUsage(message: Record<string, unknown>): Record<string, unknown> {
  const usage = storedUsage(message['usage']);
  return usage === message['usage'] ? message : { ...message, usage };
}

/** Whether a stored message has a role of other programs, which no conversation includes. */
export const isForeignRole = (role: unknown): boolean => role === 'system' || role === 'tool';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Reads bytes at a position; fewer at the end of the file. */
export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

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
    const messages = [...index.rowsOfKind(leaf, ['message'])].filter((row) => !isForeignRole(index.node(row).role));
    const rows = messages.slice(0, count).reverse();
    const read = (position: number, length: number) => readAt(fd, position, length);
    return [...readEntries({ lines: { size: end, read }, index }, rows)].flatMap((entry) =>
      entry.type === 'message' ? [entry.message] : [],
    );
  } finally {
    closeSync(fd);
  }
}
