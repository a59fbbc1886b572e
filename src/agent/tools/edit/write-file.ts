import { isUtf8 } from 'node:buffer';
import { dirname } from 'node:path';
import { makeFolder } from '../../../system/files/make-folder.ts';
import { realPath } from '../../../system/files/real-path.ts';
import { replaceFile } from '../../../system/files/replace-file.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { checkRegularFile, openRegularFile } from '../file-checks.ts';
import type { EditDetails } from './edit-diff.ts';

// Larger texts are not compared: a diff of that size would block the event loop.
const MAX_COMPARED_BYTES = 256 * 1024;

/** The path as the model wrote it, and the file it resolves to. */
export interface FileWrite {
  readonly path: string;
  readonly target: string;
  readonly content: string;
}

/** Writes a file and creates its folders. Returns the change if the file held text before. */
export async function writeWholeFile(
  { path, target, content }: FileWrite,
  signal: AbortSignal,
): Promise<EditDetails | undefined> {
  throwIfAborted(signal);
  await checkRegularFile(target);
  const before = Buffer.byteLength(content) > MAX_COMPARED_BYTES ? undefined : await readComparableText(target);
  throwIfAborted(signal);
  makeFolder(dirname(realPath(target)));
  await replaceFile(target, content);
  if (before === undefined) return undefined;
  const { describeChange } = await import('./edit-diff.ts');
  return describeChange(path, before, content);
}

/** Text of a file; undefined if it is empty, binary, too large or unreadable. */
async function readComparableText(target: string): Promise<string | undefined> {
  const file = await openRegularFile(target).catch(() => undefined);
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
