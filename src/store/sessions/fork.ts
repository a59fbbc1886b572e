import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { SessionHeader } from '../../protocol/generated/vocabulary.ts';
import { buildEntry } from './entry-line.ts';
import type { EntryIndex, Span } from './indexing/entry-index.ts';
import { parseObject } from './indexing/line-facts.ts';
import type { Lines } from './lines.ts';
import { newEntryId } from './random-id.ts';

/** The session and branch that a fork copies. */
export interface ForkSource {
  readonly lines: Lines;
  readonly index: EntryIndex;
  /** The last row to copy; undefined for an empty fork. */
  readonly leaf: number | undefined;
}

// A range of the source's bytes, line feeds included, or a new line.
type Piece = Span | string;

const BLOCK_BYTES = 1024 * 1024;

/** Writes a fork to a temporary file and renames it: a crash leaves no partial session. */
export function writeFork(path: string, header: SessionHeader, source: ForkSource): void {
  const partialPath = `${path}.partial`;
  try {
    const fd = openSync(partialPath, 'wx', 0o600);
    try {
      write(fd, Buffer.from(lineOf(header)));
      for (const piece of forkPieces(source)) {
        if (typeof piece === 'string') write(fd, Buffer.from(piece));
        else for (const block of blocksOf(source.lines, piece)) write(fd, block);
      }
    } finally {
      closeSync(fd);
    }
    renameSync(partialPath, path);
  } catch (error) {
    rmSync(partialPath, { force: true });
    throw error;
  }
}

/** The content of a fork after its header: the path to the leaf, byte for byte, then the labels of that path. */
export function* forkPieces(source: ForkSource): Generator<Piece> {
  const kept: string[] = [];
  yield* mergeNeighbours(pathPieces(source, kept));
  yield* labelLines(source, kept);
}

/**
 * The path, one piece per line. Label entries on the path are omitted; their children, and compactions that keep from
 * them, refer to the neighbouring entry instead.
 */
function* pathPieces({ lines, index, leaf }: ForkSource, kept: string[]): Generator<Piece> {
  const successors = new Map<string, string>();
  let skipped: string[] = [];
  for (const row of [...index.ancestry(leaf)].reverse()) {
    const id = index.id(row);
    if (index.type(row) === 'label') {
      skipped.push(id);
      continue;
    }
    for (const label of skipped) successors.set(label, id);
    const span = index.span(row);
    const mayReferToLabel = index.type(row) === 'compaction' && successors.size > 0;
    const parent = skipped.length > 0 ? { parentId: kept.at(-1) ?? null } : {};
    skipped = [];
    kept.push(id);
    if (mayReferToLabel || 'parentId' in parent) yield rewrite(textOf(lines, span), parent, successors);
    else yield { offset: span.offset, length: span.length + 1 };
  }
}

function rewrite(line: string, parent: { parentId?: string | null }, successors: ReadonlyMap<string, string>): string {
  const value = parseObject(line);
  if (!value) return `${line}\n`;
  const named = value['firstKeptEntryId'];
  const successor = typeof named === 'string' ? successors.get(named) : undefined;
  return lineOf({ ...value, ...parent, ...(successor !== undefined && { firstKeptEntryId: successor }) });
}

/** New label entries for the kept entries, appended to the path. */
function* labelLines(source: ForkSource, kept: readonly string[]): Generator<string> {
  const targets = new Set(kept);
  let parentId = kept.at(-1) ?? null;
  for (const [targetId, { label, timestamp }] of labelsOf(source)) {
    if (!targets.has(targetId)) continue;
    const id = newEntryId((candidate) => source.index.row(candidate) !== undefined);
    yield lineOf(buildEntry({ type: 'label', targetId, label }, { id, parentId, timestamp }));
    parentId = id;
  }
}

/** The latest label of each entry, on any branch. */
function labelsOf({ lines, index }: ForkSource): Map<string, { label: string; timestamp: string }> {
  const labels = new Map<string, { label: string; timestamp: string }>();
  for (let row = 0; row < index.size; row++) {
    if (index.type(row) !== 'label') continue;
    const { targetId, label, timestamp } = parseObject(textOf(lines, index.span(row))) ?? {};
    if (typeof targetId !== 'string') continue;
    labels.delete(targetId);
    if (typeof label === 'string' && label !== '') labels.set(targetId, { label, timestamp: String(timestamp) });
  }
  return labels;
}

/** Merges adjacent ranges. */
function* mergeNeighbours(pieces: Iterable<Piece>): Generator<Piece> {
  let merged: Span | undefined;
  for (const piece of pieces) {
    if (typeof piece !== 'string' && merged && merged.offset + merged.length === piece.offset) {
      merged = { offset: merged.offset, length: merged.length + piece.length };
      continue;
    }
    if (merged) yield merged;
    merged = typeof piece === 'string' ? undefined : piece;
    if (typeof piece === 'string') yield piece;
  }
  if (merged) yield merged;
}

function* blocksOf(lines: Lines, { offset, length }: Span): Generator<Buffer> {
  for (let done = 0; done < length; done += BLOCK_BYTES) {
    yield lines.read(offset + done, Math.min(BLOCK_BYTES, length - done));
  }
}

function write(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

const textOf = (lines: Lines, { offset, length }: Span) => lines.read(offset, length).toString();

const lineOf = (value: object) => `${JSON.stringify(value)}\n`;
