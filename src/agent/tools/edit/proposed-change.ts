import { isUtf8 } from 'node:buffer';
import { openRegularFile } from '../file-checks.ts';
import type { FileTarget } from '../file-target.ts';
import { describeChange, type EditDetails } from './edit-diff.ts';
import { type Edit, editText } from './edit-text.ts';
import { isComparable } from './write-file.ts';

// A change of a larger file is made without a preview.
const MAX_PREVIEWED_BYTES = 1024 * 1024;

/**
 * The change that a call of write or edit would make now, with the path as the model wrote it. Undefined if the tool
 * would fail, and for binary or large files.
 */
export async function proposedChange(
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  target: FileTarget,
): Promise<EditDetails | undefined> {
  if (toolName === 'write') return proposedWrite(String(args['content']), target);
  return toolName === 'edit' ? proposedEdit(args['edits'] as readonly Edit[], target) : undefined;
}

async function proposedWrite(content: string, { path, realPath, exists, isFolder }: FileTarget) {
  if (isFolder || !isComparable(content)) return undefined;
  const before = exists ? await readText(realPath) : '';
  return before !== undefined && isComparable(before) ? describeChange(path, before, content) : undefined;
}

async function proposedEdit(edits: readonly Edit[], { path, realPath }: FileTarget) {
  const before = await readText(realPath);
  if (before === undefined) return undefined;
  try {
    return describeChange(path, before, editText(before, edits, path));
  } catch {
    return undefined;
  }
}

/** The text of a file; undefined if it is binary, too large or unreadable. */
async function readText(path: string): Promise<string | undefined> {
  const file = await openRegularFile(path).catch(() => undefined);
  try {
    const size = (await file?.stat())?.size;
    if (!file || size === undefined || size > MAX_PREVIEWED_BYTES) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    const bytes = buffer.subarray(0, bytesRead);
    return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
