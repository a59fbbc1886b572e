import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { replaceFile } from '../../../system/files/replace-file.ts';
import type { FileAccess } from '../../permission.ts';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { openRegularFile } from '../file-checks.ts';
import { formatBytes } from '../truncate.ts';
import { describeChange } from './edit-diff.ts';
import { type Edit, editText } from './edit-text.ts';

// Larger files must be edited with bash: a file is held in memory several times.
const MAX_EDIT_BYTES = 32 * 1024 * 1024;

/** The path as the model wrote it, and the file it resolves to. */
export interface FileEdit {
  readonly path: string;
  readonly target: string;
  /** Absent: every file may be edited. */
  readonly files?: FileAccess | undefined;
  readonly edits: readonly Edit[];
}

/** Makes all edits of a call, or none. */
export async function editFile(edit: FileEdit, signal: AbortSignal): Promise<ToolOutput> {
  const { path, target, edits, files } = edit;
  if (files) return withModelPath(path, editGuarded(edit, files, signal));
  const before = await withModelPath(path, readText(target, signal));
  const after = editText(before, edits, path);
  throwIfAborted(signal);
  await withModelPath(path, replaceFile(target, after));
  return editResult(edit, before, after);
}

/** Reads and replaces the same file, also if the path leads elsewhere meanwhile. */
async function editGuarded(edit: FileEdit, files: FileAccess, signal: AbortSignal): Promise<ToolOutput> {
  throwIfAborted(signal);
  const { openLanded, withEditable } = await import('../guarded-files.ts');
  return withEditable({ ...edit, files }, async (landing) => {
    const before = await readText(edit.target, signal, () => openLanded(landing));
    const after = editText(before, edit.edits, edit.path);
    throwIfAborted(signal);
    await landing.replace(after);
    return editResult(edit, before, after);
  });
}

function editResult({ path, edits }: FileEdit, before: string, after: string): ToolOutput {
  const details = describeChange(path, before, after);
  return { ...textOutput(`Successfully replaced ${edits.length} block(s) in ${path}.`), details };
}

type OpenFile = (target: string) => Promise<FileHandle>;

async function readText(target: string, signal: AbortSignal, open: OpenFile = openRegularFile): Promise<string> {
  throwIfAborted(signal);
  const file = await open(target);
  try {
    const { size } = await file.stat();
    if (size > MAX_EDIT_BYTES) {
      throw new Error(
        `File is too large: ${target} is ${formatBytes(size)}, at most ${formatBytes(MAX_EDIT_BYTES)} can be edited.`,
      );
    }
    const bytes = await file.readFile({ signal });
    // Invalid UTF-8 would not survive the conversion to a string.
    if (!isUtf8(bytes)) throw new Error(`Not UTF-8 text: ${target}`);
    return bytes.toString();
  } finally {
    await file.close();
  }
}

/** Reports system errors to the model with the path it gave. */
async function withModelPath<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw /^E[A-Z0-9]+$/.test(String(code)) ? new Error(`Could not edit file: ${path}. Error code: ${code}.`) : error;
  }
}
