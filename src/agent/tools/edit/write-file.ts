import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../../system/files/make-folder.ts';
import { realPath } from '../../../system/files/real-path.ts';
import { replaceFile } from '../../../system/files/replace-file.ts';
import type { FileAccess } from '../../permission.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { checkRegularFile, openRegularFile, rejectSpecialFile } from '../file-checks.ts';
import type { EditDetails } from './edit-diff.ts';

// Larger texts are not compared: a diff of that size would block the event loop.
const MAX_COMPARED_BYTES = 256 * 1024;

/** The path as the model wrote it, and the file it resolves to. */
export interface FileWrite {
  readonly path: string;
  readonly target: string;
  /** Absent: every file may be written. */
  readonly files?: FileAccess | undefined;
  readonly content: string;
}

/** Writes a file and creates its folders. Returns the change if the file held text before. */
export async function writeWholeFile(write: FileWrite, signal: AbortSignal): Promise<EditDetails | undefined> {
  const { path, target, files, content } = write;
  throwIfAborted(signal);
  if (files) return writeGuarded(write, files, signal);
  await checkRegularFile(target);
  const before = isComparable(content) ? await readComparableText(openRegularFile(target)) : undefined;
  throwIfAborted(signal);
  makeFolder(dirname(realPath(target)));
  await replaceFile(target, content);
  if (before === undefined) return undefined;
  const { describeChange } = await import('./edit-diff.ts');
  return describeChange(path, before, content);
}

/** Compares and replaces the same file, also if the path leads elsewhere meanwhile. */
async function writeGuarded(write: FileWrite, files: FileAccess, signal: AbortSignal) {
  const { path, content } = write;
  const { openLanded, withWritable } = await import('../guarded-files.ts');
  const before = await withWritable({ ...write, files }, async (landing) => {
    const stats = landing.stats();
    if (stats) rejectSpecialFile(landing.path, stats);
    const text = stats && isComparable(content) ? await readComparableText(openLanded(landing)) : undefined;
    throwIfAborted(signal);
    await landing.replace(content);
    return text;
  });
  if (before === undefined) return undefined;
  const { describeChange } = await import('./edit-diff.ts');
  return describeChange(path, before, content);
}

/** Whether a diff of a text may be made. */
export const isComparable = (content: string) => Buffer.byteLength(content) <= MAX_COMPARED_BYTES;

/** Text of a file; undefined if it is empty, binary, too large or unreadable. */
async function readComparableText(opening: Promise<FileHandle>): Promise<string | undefined> {
  const file = await opening.catch(() => undefined);
  try {
    const size = (await file?.stat())?.size ?? 0;
    if (size === 0 || size > MAX_COMPARED_BYTES) return undefined;
    const bytes = await file?.readFile();
    return bytes && isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
